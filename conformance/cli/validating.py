"""Validating JSON values, and many that are much alike, as the lines of a recording are.

Commands import it when there is something to validate: what it imports takes long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import best_match

from conformance.execution.json_form import schema


def validator(name: str) -> Any:
    """Return a validator by one of our schemas; what a definition was seen to fit, it looks at once."""
    fitting: set[tuple[str, str]] = set()
    definition = Draft202012Validator.VALIDATORS["$ref"]

    def once(self: Any, reference: str, part: Any, within: Any) -> Iterator[Any]:
        seen = reference, json.dumps(part)
        if seen in fitting:
            return
        errors = list(definition(self, reference, part, within))
        if not errors:
            fitting.add(seen)
        yield from errors

    return validators.extend(Draft202012Validator, {"$ref": once})(schema(name))


def first_error(values: Any, value: Any) -> Any:
    """Return what tells best why a validator refuses a value, or None if it does not."""
    return best_match(values.iter_errors(value))
