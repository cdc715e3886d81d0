"""A count of changes to what modules and optimizers have: attributes that are set, hooks that come.

They are many and change rarely. Who has asked about all of them asks again when the count moves.
"""

CHANGES = [0]
"""How often an attribute of any module was set or deleted, or a hook registered or removed."""
