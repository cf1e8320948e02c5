#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile DB: gives the arms of a results file names that break whatever they are put into without escaping.
page PAGE: whether an HTML report refers to nothing outside and says no colour of its own in its charts.
open PAGE light|dark N_CHARTS BROWSER...: opens it in a browser, and judges what became of it there."""
import base64
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

# As the plan has them: %XX is a byte.
NAMES = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>\'', 'a\'b"c`touch /nonexistent/x`$(id)%25d\\',
         'line\nbreak \x1b[31m%FF%FE </svg></style><iframe src=http://example.org/>']

ELEMENTS = set('''html head meta title link style body main header nav section p h1 h2 h3 ul li span b i small a code pre
    dl dt dd div details summary table thead tbody tr th td figure'''.split())
DRAWN = set('svg title desc g path circle rect use defs polygon polyline line text tspan'.split())

# Runs inside the page, let in by its hash; the page itself has no script.
JUDGE = r'''
let broken = [];
addEventListener('securitypolicyviolation', e => broken.push(e.violatedDirective + ' ' + e.blockedURI));
addEventListener('load', () => setTimeout(() => {
  const all = [...document.querySelectorAll('*')].filter(e => !e.hasAttribute('data-judge'));
  const luminance = c => { const v = c.match(/[\d.]+/g).slice(0, 3).map(x => x / 255)
    .map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = c => { const l = luminance(c); return (Math.max(l, ground) + .05) / (Math.min(l, ground) + .05); };
  const out = document.createElement('pre');
  out.id = 'judgement'; out.setAttribute('data-judge', '');
  out.textContent = JSON.stringify({
    broken, dark: matchMedia('(prefers-color-scheme: dark)').matches, ground,
    elements: all.map(e => (e instanceof SVGElement ? 'svg:' : '') + e.localName),
    handlers: all.flatMap(e => e.getAttributeNames()).filter(n => n.startsWith('on')),
    ids: all.map(e => e.id).filter(Boolean),
    targets: all.flatMap(e => ['href', 'xlink:href'].map(n => e.getAttribute(n))).filter(h => h && h[0] == '#'),
    charts: all.filter(e => e.localName == 'figure').map(e => { const s = e.querySelector('svg');
      const r = s.getBoundingClientRect(); return [e.dataset.chart, r.width, r.height, s.querySelectorAll('path,polygon,use').length]; }),
    texts: all.filter(e => e.localName == 'text').map(e => [e.textContent, contrast(getComputedStyle(e).fill)]),
    verdicts: [...document.querySelectorAll('b.v')].map(e => [e.textContent, getComputedStyle(e, '::before').content]),
    wide: document.documentElement.scrollWidth - innerWidth,
    title: document.title, heading: document.querySelector('h1').textContent,
    resources: performance.getEntriesByType('resource').map(r => r.name)});
  document.body.append(out);
}, 50));
'''


def hostile(db):
    with sqlite3.connect(db) as connection:
        plan = json.loads(connection.execute("SELECT value FROM experiment WHERE key = 'plan'").fetchone()[0])
        for arm, name in zip(plan['arms'], NAMES):
            arm['name'] = name
        plan['command'] = 'spur compare </pre><script>alert(2)</script>\n'
        plan['cells'][0]['label'] = NAMES[0] + ' threads 1'
        connection.execute("UPDATE experiment SET value = ? WHERE key = 'plan'", [json.dumps(plan)])
        connection.execute("UPDATE trials SET status = 'failed', bytes_per_second = NULL, error = ? WHERE row = 0",
                           ['read: ' + NAMES[0] + ': Input/output error'])


def page(name):
    text = open(name, encoding='utf-8').read()
    assert '<meta name="generator" content="spur ' in text[:200], 'no mark of spur'
    body = text[text.index('</style>'):]
    for what in re.findall(r'''(?:src|href|action|poster|data|srcset)\s*=\s*["']?([^"'>\s]*)''', re.sub(r'&[a-z#0-9]+;', '', body)):
        assert what == '' or what.startswith('#') or re.match(r'(x|http://example.org/)', what), 'refers to ' + what
    style = text[text.index('<style>'):text.index('</style>')]
    assert 'url(' not in style and '@import' not in style, 'the style loads something'
    for svg in re.findall(r'<svg viewBox="0 0 [0-9]+ [0-9]+" role="img".*?</svg>', body, re.S):
        outside = re.sub(r'>[^<]*<', '><', svg)
        bad = re.search(r'\b(black|white|rgb\(|http:|https:)|="#[0-9a-fA-F]{3,8}"(?=[^#]*fill)', outside)
        assert not bad, 'in a chart: ' + svg[max(0, bad.start() - 60):bad.end() + 20]
        assert ' role="img" aria-labelledby="' in svg and '<title id=' in svg and '<desc id=' in svg, 'no role'
    assert not re.search(r'[\x00-\x08\x0b-\x1f\x7f]', text), 'control characters'


def judged(name, theme, browser):
    text = open(name, encoding='utf-8').read()
    digest = base64.b64encode(hashlib.sha256(JUDGE.encode()).digest()).decode()
    policy = "default-src 'none';"
    assert policy in text, 'no policy'
    text = text.replace(policy, policy + " script-src 'sha256-%s';" % digest, 1)
    text = text.replace('<meta name="viewport"', '<script data-judge="">%s</script><meta name="viewport"' % JUDGE, 1)
    with tempfile.TemporaryDirectory() as work:
        copy = os.path.join(work, 'copy.html')
        open(copy, 'w', encoding='utf-8').write(text)
        command = browser + ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                             '--user-data-dir=' + os.path.join(work, 'profile'), '--window-size=1200,1600',
                             '--virtual-time-budget=5000',
                             '--blink-settings=preferredColorScheme=%d' % (0 if theme == 'dark' else 1), '--dump-dom',
                             'file://' + copy]
        run = subprocess.run(command, capture_output=True, timeout=100)
    dom = run.stdout.decode('utf-8', 'replace')
    found = re.search(r'<pre id="judgement" data-judge="">(.*?)</pre>', dom, re.S)
    assert found, 'the browser gave no page: ' + run.stderr.decode('utf-8', 'replace')[-2000:]
    text = found.group(1)
    for entity, char in (('&lt;', '<'), ('&gt;', '>'), ('&nbsp;', '\xa0'), ('&amp;', '&')):
        text = text.replace(entity, char)
    return json.loads(text)


def open_in(name, theme, n_charts, browser):
    j = judged(name, theme, browser)
    assert j['broken'] == [] and j['resources'] == [], 'asked for %s %s' % (j['broken'], j['resources'])
    assert j['dark'] == (theme == 'dark') and (j['ground'] < .1) == j['dark'], 'theme %s, ground %s' % (theme, j['ground'])
    strange = {e for e in j['elements'] if e not in ELEMENTS and not (e[:4] == 'svg:' and e[4:] in DRAWN)}
    assert not strange and not j['handlers'], 'text became %s %s' % (strange, j['handlers'])
    twice = {i for i in j['ids'] if j['ids'].count(i) > 1} if len(set(j['ids'])) < len(j['ids']) else None
    assert not twice, 'ids stand twice: %s' % twice
    assert {t[1:] for t in j['targets']} <= set(j['ids']), 'references to nothing'
    assert len(j['charts']) == n_charts, '%d charts instead of %d' % (len(j['charts']), n_charts)
    panels = [c[0] for c in j['charts'] if c[0].startswith('set1-')]
    if n_charts:
        assert panels == ['set1-throughput', 'set1-requests', 'set1-latency', 'set1-cpu', 'set1-wire'], panels
    for chart, width, height, n_shapes in j['charts']:
        assert width > 200 and height > 100 and n_shapes > 8, (chart, width, height, n_shapes)
    for text, contrast in j['texts']:
        assert contrast >= 4.5, '"%s" has a contrast of %.1f' % (text, contrast)
    for word, shape in j['verdicts']:
        assert word in ('better', 'worse', 'same', 'undecided', 'no figure', 'refused', 'not applicable', 'not ranked',
                        'without figures') and len(shape) == 3, (word, shape)
    assert j['verdicts'] and j['wide'] <= 0, 'wider than the window by %s' % j['wide']
    print(json.dumps({'heading': j['heading'], 'texts': [t[0] for t in j['texts']]}))


what, arguments = sys.argv[1], sys.argv[2:]
try:
    if what == 'hostile':
        hostile(*arguments)
    elif what == 'page':
        page(*arguments)
    else:
        open_in(arguments[0], arguments[1], int(arguments[2]), arguments[3:])
except AssertionError as e:
    sys.exit('%s %s: %s' % (what, arguments[0], e))
