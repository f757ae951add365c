"""Real torch with one bug of an everyday kind each: ``planted_more:having.NAME`` for a name of MORE.

Such a bug is no exact absence of a rule: it does something else instead, or only now and then.
"""

from __future__ import annotations

import planted_around_leaves  # noqa: F401 - registers bugs, as do the next ones
import planted_functions  # noqa: F401
import planted_grads  # noqa: F401
import planted_modules  # noqa: F401
import planted_writes  # noqa: F401
from planting import MORE, Adapters

having = Adapters({name: plant for name, (_, plant) in MORE.items()})
