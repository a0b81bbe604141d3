"""A class as a service: whatever can be asked of it is an event, and `Classes.do` answers each one.

The pages, the commands and a replayed term ask by the same events. Who asks is looked at before anything else.
"""
