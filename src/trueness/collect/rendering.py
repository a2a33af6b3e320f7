"""A template and a name become a prompt: the slot is replaced and nothing else is read."""

from trueness.contract.errors import InputError

ENTITY, ANSWER = "{e}", "{a}"


def render(template: str, name: str, *, slot: str = ENTITY) -> str:
    """The template with every slot replaced by the name, verbatim.

    Other braces stay, and the name is not read for slots.

    Raises
    ------
    InputError
        When the template has no slot.

    Examples
    --------
    >>> render('Answer as {"capital": ...} for {e}:', "France")
    'Answer as {"capital": ...} for France:'
    """
    if slot not in template:
        msg = f"no {slot} in template {template!r}; write {slot} where the name belongs."
        raise InputError(msg)
    return template.replace(slot, name)


def joined(prompt: str, name: str) -> str:
    """A name as it follows a prompt: behind a space unless the prompt ends in one.

    >>> joined("The capital of Peru is", "Lima")
    ' Lima'
    """
    return name if prompt[-1:].isspace() else f" {name}"
