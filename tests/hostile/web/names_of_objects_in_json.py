"""Change what every object of the page inherits: `__proto__` and `constructor` as names of weights and as keys.

Expected: text like any other
Stopped by: JSON is drawn, never merged
Own: yes
Needs: a browser
"""

MERGE = """() => { const merge = (a, b) => { for (const k in b) typeof b[k] === "object" ? merge(a[k] ||= {}, b[k]) : a[k] = b[k]; };
  merge({}, JSON.parse('{"__proto__": {"polluted": 1}}')); const seen = ({}).polluted; delete Object.prototype.polluted; return seen; }"""
SOURCE = '''
import torch
class softmax(torch.nn.Module):
    def __init__(self, *a, **k):
        super().__init__()
        for name in ("__proto__", "constructor", "toString", "prototype"):
            self.register_parameter(name, torch.nn.Parameter(torch.ones(2)))
    def forward(self, x):
        print('{"__proto__": {"polluted": 1}}')
        return x
'''


def control(world):
    page = world.page(None)
    page.set_content("<p>")
    assert page.evaluate(MERGE) == 1


def attack(world):
    id = world.graded(world.eve, SOURCE)
    page = world.page(f"/teach/?submission={id}", world.prof)
    page.get_by_label("Result").wait_for()
    assert page.evaluate("({}).polluted === undefined && typeof ({}).toString === 'function'")
    views = '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "empty": true}'
    page.evaluate("text => gym.parts.report(JSON.parse(text))", views)
    assert page.evaluate("({}).polluted === undefined")
    assert world.alarms == []
