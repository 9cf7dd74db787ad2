"""Trust: audits, risk in metres, a ledger."""
