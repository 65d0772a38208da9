"""How large and how small the numbers of a response may be."""

LARGEST = 1e100  # of a response: its cube must be a number
SMALLEST = 1e-100  # difference of responses: its square must be a number
