"""Settings that name a model: which names the catalogue offers for it."""

from voice_agent.settings.fields import Description


def offered(description: Description) -> tuple[str, ...]:
    """Return the models that a setting may name; none for a setting that names no model.

    Raises CatalogueError where the catalogue itself is broken.
    """
    if not description.role:
        return ()
    # Here, because few settings files name a model, and the catalogue takes a while to load.
    from voice_agent.catalogue import Catalogue

    return tuple(m.name for m in Catalogue.load().models if m.role == description.role)


def names_no_model(description: Description, value: object) -> bool:
    """Return whether ``value`` must name a model and does not."""
    return bool(description.role) and str(value).strip() not in offered(description)
