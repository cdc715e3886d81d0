"""Types of TorchScript: `torch.TensorType`, `torch.ListType(torch.IntType.get())` and others."""

from typing import Any, ClassVar, TypeAlias

__torch__ = (
    "AnyType BoolType ComplexType DeviceObjType DictType FloatType IntType ListType NoneType "
    "NumberType OptionalType StringType TensorType TupleType Type"
)

Text: TypeAlias = str  # where a class has a method of that name


class Type:
    """A type of TorchScript, which prints as in an annotation.

    >>> torch.TensorType.get()
    Tensor
    >>> torch.OptionalType(torch.ListType(torch.IntType.get()))
    Optional[List[int]]
    """

    annotation_str: Text

    def kind(self) -> Text:
        """The name of its class.

        >>> torch.IntType.get().kind()
        'IntType'
        """
        return type(self).__name__

    def str(self) -> Text:
        """The type as it prints.

        >>> torch.FloatType.get().str()
        'float'
        """
        return self.annotation_str

    def isSubtypeOf(self, other: "Type") -> bool:
        """Whether each value of this type is one of `other`.

        >>> torch.IntType.get().isSubtypeOf(torch.NumberType.get())
        True
        """
        if isinstance(other, AnyType) or self == other:
            return True
        if isinstance(other, OptionalType):
            return isinstance(self, NoneType) or self.isSubtypeOf(other.getElementType())
        return isinstance(other, NumberType) and isinstance(self, (ComplexType, FloatType, IntType))

    def __repr__(self) -> Text:
        return self.annotation_str

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]


class _Plain(Type):
    """A type without parts, of which there is one."""

    _only: ClassVar[Any] = None

    def __new__(cls, *args: Any) -> Any:
        raise TypeError(f"torch._C.{cls.__name__}: No constructor defined!")

    @classmethod
    def get(cls) -> Any:
        """The type.

        >>> torch.BoolType.get()
        bool
        """
        if cls._only is None:
            cls._only = object.__new__(cls)
        return cls._only


def _plain(name: str, annotation: str) -> Any:
    made = type(name, (_Plain,), {"annotation_str": annotation, "__module__": __name__})
    made.__doc__ = f"The type `{annotation}` of TorchScript."
    return made


AnyType = _plain("AnyType", "Any")
BoolType = _plain("BoolType", "bool")
ComplexType = _plain("ComplexType", "complex")
DeviceObjType = _plain("DeviceObjType", "Device")
FloatType = _plain("FloatType", "float")
IntType = _plain("IntType", "int")
NoneType = _plain("NoneType", "NoneType")
NumberType = _plain("NumberType", "number")
StringType = _plain("StringType", "str")
TensorType = _plain("TensorType", "Tensor")


class _Around(Type):
    """A type around another."""

    _word: ClassVar[Text]

    def __init__(self, a: Type):
        self._element = a
        self.annotation_str = f"{self._word}[{a!r}]"

    def getElementType(self) -> Type:
        """The type that is inside.

        >>> torch.ListType(torch.IntType.get()).getElementType()
        int
        """
        return self._element


class ListType(_Around):
    """The type of lists whose elements have one type.

    >>> torch.ListType.ofInts()
    List[int]
    """

    _word = "List"

    @staticmethod
    def ofInts() -> "ListType":
        """Lists of integers."""
        return ListType(IntType.get())

    @staticmethod
    def ofFloats() -> "ListType":
        """Lists of floats."""
        return ListType(FloatType.get())

    @staticmethod
    def ofBools() -> "ListType":
        """Lists of booleans."""
        return ListType(BoolType.get())

    @staticmethod
    def ofTensors() -> "ListType":
        """Lists of tensors."""
        return ListType(TensorType.get())


class OptionalType(_Around):
    """The type of values that may be None.

    >>> torch.OptionalType.ofTensor()
    Optional[Tensor]
    """

    _word = "Optional"

    @staticmethod
    def ofTensor() -> "OptionalType":
        """A tensor, or None."""
        return OptionalType(TensorType.get())


class DictType(Type):
    """The type of dicts whose keys, and whose values, have one type.

    >>> torch.DictType(torch.StringType.get(), torch.TensorType.get())
    Dict[str, Tensor]
    """

    def __init__(self, key: Type, value: Type):
        self._parts = key, value
        self.annotation_str = f"Dict[{key!r}, {value!r}]"

    def getKeyType(self) -> Type:
        """The type of the keys."""
        return self._parts[0]

    def getValueType(self) -> Type:
        """The type of the values."""
        return self._parts[1]


class TupleType(Type):
    """The type of tuples, each element of a type of its own.

    >>> torch.TupleType([torch.IntType.get(), torch.TensorType.get()])
    Tuple[int, Tensor]
    """

    def __init__(self, a: list[Type]):
        self._parts = list(a)
        self.annotation_str = f"Tuple[{', '.join(map(repr, a))}]"

    def elements(self) -> list[Type]:
        """The types of the elements."""
        return list(self._parts)
