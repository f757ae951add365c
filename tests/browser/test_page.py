"""The page of an explanation in a browser: it fits, tells all, obeys keys and fingers, asks for nothing."""

from __future__ import annotations

import pytest

from browser import Browser, chromium
from conformance import explain
from conformance.explanation.pictures.moments import moments
from conformance.explanation.pictures.page import as_page
from conformance.explanation.pictures.scene import scene_of

pytestmark = pytest.mark.skipif(chromium() is None, reason="Chromium is not installed")

SCRIPT = f"""import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 1)
    def forward(self, x):
        return self.second(torch.relu(self.first(x)))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, a_rather_long_name_for_a_target = torch.randn(5, 3), torch.randn(5, 1)  # {"long " * 40}
for epoch in range(2):
    optimizer.zero_grad()
    loss = ((net(x) - a_rather_long_name_for_a_target) ** 2).mean()
    loss.backward()
    optimizer.step()
h = net.first(x)
print(h.grad)
y = h.exp()
y.add_(1)
y.sum().backward()
"""
DRAWN = "document.querySelector('#picture svg') !== null"


@pytest.fixture(scope="module")
def found():
    """A script with a module, a loop, a warning and an error."""
    return explain(SCRIPT)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    """The file of its page."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(as_page(found), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    """A browser that all tests share; each opens the page anew."""
    with Browser() as one:
        yield one


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("wide", [360, 1200])
def test_the_page_fits_and_is_quiet(browser, page, found, wide, dark):
    """No step makes it scroll sideways, tells the console anything, or asks for a file."""
    browser.screen(wide, 800, dark)
    browser.open(page)
    assert dark == browser.run("getComputedStyle(document.body).backgroundColor !== 'rgb(246, 248, 250)'")
    for step in range(1, len(moments(found)) + 1, 1 if wide == 360 and not dark else 7):
        browser.run(f"location.hash = '#step-{step}'")
        browser.wait(f"document.querySelector('#count').textContent.startsWith('{step} /')")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), step
    browser.wait(DRAWN)
    assert [] == browser.told("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    asked = {event["request"]["url"].partition("#")[0] for event in browser.told("Network.requestWillBeSent")}
    assert {page.as_uri()} == {url for url in asked if not url.startswith("data:")}


def test_each_step_shows_the_facts_rules_and_lines_of_the_story(browser, page, found):
    """A reader sees what the explanation holds: changes, rules, errors with their cure, the picture."""
    browser.screen(1200, 800, False)
    for at, moment in enumerate(moments(found), 1):
        if at % 4 and not moment.mishaps:
            continue
        browser.open(page, f"#step-{at}")
        scene = scene_of(moment)
        browser.wait(DRAWN if scene.tensors else "document.querySelector('#picture p') !== null")
        said = browser.run("document.querySelector('#now').textContent")
        assert f"line {moment.line}" in said
        own = moment.line == moment.step.line
        expected = [f"{c.name}.{c.fact}" for c in moment.step.changes if own] + [*moment.because]
        expected += [part for m in moment.mishaps for part in (m.message, m.rule, m.cure)]
        assert [] == [part for part in expected if part not in said]
        current = browser.run(
            "[...document.querySelectorAll('#source [aria-current]')].map(e => e.dataset.line)"
        )
        assert [str(moment.line)] == current
        drawn = browser.run("[...document.querySelectorAll('#picture g[id^=tensor]')].map(e => e.id)")
        assert {f"tensor-{box.number}" for box in scene.tensors} == set(drawn)
        table = browser.run("[...document.querySelectorAll('#tensors tbody th')].map(e => e.textContent)")
        assert sorted(box.title for box in scene.tensors) == sorted(table)


def _step(browser):
    return int(browser.run("document.querySelector('#count').textContent.split(' ')[0]"))


def _until_step(browser, number):
    """Wait for a step: the browser answers before the page has heard of a finger."""
    browser.wait(f"document.querySelector('#count').textContent.startsWith('{number} /')")


def test_keys_buttons_lines_and_the_slider_step(browser, page, found):
    """Arrows, j and k, Home and End; a click on a line goes to its next pass; the address holds the step."""
    browser.screen(1200, 800, False)
    browser.open(page)
    count = len(moments(found))
    keys = {"ArrowRight": 2, "j": 3, "k": 2, "ArrowLeft": 1, "End": count, "ArrowUp": count, "Home": 1}
    for key, expected in keys.items():
        browser.press(key)
        assert expected == _step(browser), key
    browser.run("document.querySelector('#next').click()")
    assert (2, "#step-2") == (_step(browser), browser.run("location.hash"))
    passes = [at for at, moment in enumerate(moments(found), 1) if moment.line == 16]
    for expected in (passes[0], passes[1], passes[0]):
        browser.run("document.querySelector('[data-line=\"16\"] > a').click()")
        assert expected == _step(browser)
    slide = "const s = document.querySelector('#slider'); s.value = 4; s.dispatchEvent(new Event('input'))"
    browser.run(f"{{{slide}}}")
    assert 5 == _step(browser)
    browser.open(page, "#step-3")
    assert 3 == _step(browser)


def test_a_finger_steps(browser, page):
    """A swipe to the left goes on, one to the right goes back; the buttons are large enough."""
    browser.screen(360, 800, False)
    browser.open(page)
    for start, end, expected in (((300, 500), (60, 510), 2), ((60, 500), (300, 490), 1)):
        browser.swipe(start, end)
        _until_step(browser, expected)
    sizes = browser.run(
        "[...document.querySelectorAll('button, summary')].map(b => b.getBoundingClientRect())"
        ".map(r => [r.width, r.height])"
    )
    assert [] == [size for size in sizes if min(size) < 44]


def test_a_finger_steps_although_the_picture_changes_under_it(browser, page):
    """The element under it may be gone from the page when it lifts; a second finger makes it no swipe."""
    browser.screen(360, 800, False)
    browser.open(page)
    browser.wait("document.querySelector('#picture p') !== null")
    middle = "r => Math.round(r.top + r.height / 2)"
    y = browser.run(f"({middle})(document.querySelector('#picture p').getBoundingClientRect())")
    gone = "document.querySelector('#picture').replaceChildren(document.createElement('p'))"
    browser.swipe((300, y), (60, y), meanwhile=f"{gone}; 0")
    _until_step(browser, 2)
    two = [{"x": 300, "y": 500, "id": 0}, {"x": 200, "y": 500, "id": 1}]
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=two[:1])
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=two)
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.swipe((300, 500), (60, 510))
    _until_step(browser, 3)


def test_a_script_that_did_not_run_has_a_page_without_steps(browser, tmp_path):
    """It shows the source and the reason."""
    path = tmp_path / "page.html"
    path.write_text(as_page(explain("x = = 1\n")), encoding="utf-8")
    browser.screen(360, 800, False)
    browser.open(path)
    assert "line 1: invalid syntax" in browser.run("document.querySelector('#story').textContent")
    assert [] == browser.run("[...document.querySelectorAll('nav, figure')].filter(e => e.offsetHeight)")
    assert [] == browser.told("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


CONTRAST = """
(() => {
  const rgb = colour => colour.match(/[\\d.]+/g).map(Number);
  const linear = v => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
  const light = colour => colour.map(linear).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const above = element => element ? [element, ...above(element.parentElement)] : [];
  const ground = element => above(element).map(e => rgb(getComputedStyle(e).backgroundColor))
    .find(colour => colour.length < 4 || colour[3] > 0).slice(0, 3);
  const told = element => element.getClientRects().length
    && !element.closest('svg, script, noscript, .hidden, :disabled')
    && [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  const contrast = element => {
    const opacity = above(element).reduce((product, e) => product * getComputedStyle(e).opacity, 1);
    const back = ground(element);
    const ink = rgb(getComputedStyle(element).color).slice(0, 3);
    const seen = ink.map((v, i) => v * opacity + back[i] * (1 - opacity));
    const [more, less] = [light(seen), light(back)].sort((a, b) => b - a);
    return (more + .05) / (less + .05);
  };
  return [...document.querySelectorAll('body *')].filter(told)
    .map(e => [e.tagName, e.className, e.textContent.slice(0, 20), contrast(e)]).filter(e => e[3] < 4.5);
})()
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_stands_out_from_its_ground(browser, page, found, dark):
    """A contrast of 4.5 to 1, as WCAG has it for AA; the button changes light for dark."""
    browser.screen(1200, 800, not dark)
    browser.open(page, f"#step-{len(moments(found))}")
    browser.run("document.querySelector('#theme').click()")
    browser.wait(DRAWN)
    assert [] == browser.run(CONTRAST)
    browser.run("localStorage.clear()")
