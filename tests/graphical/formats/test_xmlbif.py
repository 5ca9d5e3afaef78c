"""XMLBIF: its order of numbers, names with white space, and documents that would do harm."""

import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.graph_files import read_graph, write_graph
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable
from tests.graph_files import NETWORKS, SHARED, assert_same_graph, needs_shared

DOG = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog-Problem</NAME>
<PROPERTY>credal-set constant-density-bounded 1.1</PROPERTY>
<VARIABLE TYPE="nature"><NAME>bowel-problem</NAME>
  <OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME> dog-out </NAME>
  <OUTCOME>&lt;5</OUTCOME><OUTCOME>5-12</OUTCOME><OUTCOME>&gt;12</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>family-out</NAME>
  <OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME></VARIABLE>
<DEFINITION><FOR>bowel-problem</FOR><TABLE>0.01 0.99</TABLE></DEFINITION>
<DEFINITION><FOR>family-out</FOR><TABLE>
  0.15 <!-- at home --> 0.85</TABLE></DEFINITION>
<DEFINITION><FOR>dog-out</FOR><GIVEN>bowel-problem</GIVEN><GIVEN>family-out</GIVEN>
  <TABLE>0.5 0.49 0.01 0.5 0.47 0.03 0.5 0.4 0.1 0.2 0.1 0.7</TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "a.xml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_the_variable_itself_varies_fastest(written):
    network = read_graph(written(DOG))
    assert type(network) is BayesianNetwork
    assert network.name == "Dog-Problem"
    assert network.by_name["dog-out"].states == ("<5", "5-12", ">12")
    assert_array_equal(network.tables["family-out"].table, [0.15, 0.85])
    assert_array_equal(network.tables["dog-out"].table[1, 0], [0.5, 0.4, 0.1])


def test_white_space_around_a_name_is_kept_only_if_the_file_says_so(tmp_path, written):
    assert "dog-out" in read_graph(written(DOG)).names
    variable = Variable(" a\r\n", [" ", "", "\t<&>", "]]>"])
    network = BayesianNetwork([Factor([variable], [0.1, 0.2, 0.3, 0.4])], name="two  words ")
    write_graph(network, tmp_path / "b.xml")
    assert_same_graph(read_graph(tmp_path / "b.xml"), network)


BOMB = '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<!ELEMENT BIF (", f"{BOMB}<!ELEMENT BIF ("),
        ("<!ELEMENT BIF (", '<!ENTITY a SYSTEM "file:///etc/passwd"><!ELEMENT BIF ('),
        ("<!ELEMENT BIF (", '<!ENTITY % a SYSTEM "http://127.0.0.1/a.dtd"> %a;<!ELEMENT BIF ('),
        ("<!DOCTYPE BIF [", '<!DOCTYPE BIF [ <!ENTITY % a "x">'),
    ],
)
def test_entities_are_refused(written, old, new):
    text = DOG.replace(old, new, 1)
    with pytest.raises(InvalidFile, match="declares or refers to an entity"):
        read_graph(written(text))


def test_a_document_type_elsewhere_is_not_fetched_and_its_entities_are_refused(written):
    head, body = DOG.split("<!DOCTYPE BIF [")[0], DOG.split("]>")[1]
    elsewhere = f'{head}<!DOCTYPE BIF SYSTEM "http://127.0.0.1:1/bif.dtd">{body}'
    assert read_graph(written(elsewhere)).name == "Dog-Problem"
    with pytest.raises(InvalidFile, match="refers to an entity"):
        read_graph(written(elsewhere.replace("Dog-Problem", "&dog;")))


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("</NETWORK>", "</NETWORX>", 22, r"not well-formed XML \(mismatched tag"),
        ("US-ASCII", "EBCDIC-x", None, "cannot be read as XML|unknown encoding"),
        ("<NAME>family-out", "<NAME>&x;family-out", 14, "not well-formed|entity"),
        ("<NAME>family-out</NAME>", "", 14, "a variable has 0 names; one was expected"),
        ("<NAME>family-out", "<NAME>bowel-problem", 14, "a second variable 'bowel-problem'"),
        ('TYPE="nature"><NAME>family', 'TYPE="decision"><NAME>family', 14, "'decision'.*Influence"),
        ("<FOR>family-out", "<FOR>familly-out", 17, "no variable 'familly-out'.*Did you mean"),
        ("<FOR>bowel-problem</FOR><TABLE>", "<TABLE>", 16, "has 0 FOR, 1 TABLE"),
        ("<GIVEN>family-out", "<GIVEN>dog-out", 19, "different parents"),
        ("0.01 0.99", "0.01 0.99 1", 16, "'bowel-problem' has 3 numbers; 2 were expected"),
        ("0.01 0.99", "0.01 x", 16, "'x' was found in the table"),
        ("0.01 0.99", "0.01 0_9", 16, "'0_9' was found in the table"),
        ("0.01 0.99", "0.01 0.98", 16, "'bowel-problem' sums to 0.99"),
        ("0.01 0.99", "-0.01 1.01", 16, "holds -0.01"),
        ("<DEFINITION><FOR>bowel-problem</FOR><TABLE>0.01 0.99</TABLE></DEFINITION>", "", None,
         "no table for bowel-problem"),
        ("</NETWORK>", "</NETWORK><NETWORK/>", 6, "2 networks in <BIF>"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_named_with_the_line(written, old, new, line, problem):
    assert DOG.count(old) == 1
    with pytest.raises(InvalidFile, match=problem) as caught:
        read_graph(written(DOG.replace(old, new)))
    assert caught.value.line == line


def test_deep_documents_and_other_documents_are_refused(written):
    with pytest.raises(InvalidFile, match="more than 20 elements are inside each other"):
        read_graph(written("<a>" * 100_000))
    with pytest.raises(InvalidFile, match=r"in <svg>; one <NETWORK> in <BIF>"):
        read_graph(written("<svg></svg>"))
    with pytest.raises(InvalidFile, match="not well-formed XML"):
        read_graph(written(""))


def test_a_name_that_xml_cannot_hold_is_refused(tmp_path):
    network = BayesianNetwork([Factor([Variable("a\x00", 1)], [1.0])])
    with pytest.raises(InvalidInput, match=r"character '\\x00', which XML cannot hold.*\.json"):
        write_graph(network, tmp_path / "a.xml")


@needs_shared
@pytest.mark.parametrize("name", [n for n in NETWORKS if n[:3] in ("asi", "chi", "sac", "pat")])
def test_shared_networks_survive(name, tmp_path):
    network = read_graph(SHARED / "bif" / name)
    for name in ("a.xmlbif.gz", "a.bifxml", "a.xml"):
        write_graph(network, tmp_path / name)
        assert_same_graph(read_graph(tmp_path / name), network)
    assert (tmp_path / "a.bifxml").read_bytes() == (tmp_path / "a.xml").read_bytes()
