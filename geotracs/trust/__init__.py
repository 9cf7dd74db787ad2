"""Trust: audits, risk in metres, a ledger, a report for the privacy officer."""
