"""Stands in for the library that OpenEvolve makes its configuration with."""
import dataclasses
import sys
import typing


def kind_of(field, module):
    try:
        return eval(field.type, vars(sys.modules[module])) if isinstance(field.type, str) else field.type
    except NameError:
        return None


def made_of(kind, value):
    inner = [one for one in typing.get_args(kind) if dataclasses.is_dataclass(one)]
    if dataclasses.is_dataclass(kind):
        inner = [kind]
    if inner and isinstance(value, dict):
        return from_dict(inner[0], value)
    if inner and isinstance(value, list):
        return [from_dict(inner[0], one) if isinstance(one, dict) else one for one in value]
    return value


def from_dict(data_class, data, config=None):
    fields = {field.name: field for field in dataclasses.fields(data_class)}
    return data_class(**{name: made_of(kind_of(fields[name], data_class.__module__), value)
                         for name, value in data.items() if name in fields})


class Config:
    def __init__(self, **_):
        pass
