"""Posts made for the tests: a few threads about pandas and jQuery, as their authors write them and as the site shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.corpus.stack_overflow.site import Written


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, 12, 30, 15, tzinfo=UTC)


def release(version: str, released: datetime) -> Any:
    return {"version": version, "release_time": released, "import_names": ["pandas"]}


PANDAS = [
    release("0.25.3", day(2019, 10)),
    release("1.0.0", day(2020, 1)),
    release("1.2.4", day(2021, 4)),
    release("1.3.0", day(2021, 7)),
    release("1.3.5", day(2021, 12)),
    release("2.0.0", day(2023, 4)),
    release("2.0.3", day(2023, 6)),
]

POSTS = [
    Written(
        100,
        "I use **pandas** 1.3 on Python 3.7. Why does `append` warn & fail?\n\n    import pandas as pd\n    pd.DataFrame().append([1])\n\nThanks",
        "<p>I use <strong>pandas</strong> 1.3 on Python 3.7. Why does <code>append</code> warn &amp; fail?</p>\n\n"
        '<pre class="lang-py s-code-block"><code>import pandas as pd\npd.DataFrame().append([1])\n</code></pre>\n\n<p>Thanks</p>\n',
        day(2021, 9),
        title='Why does "append" warn?',
        tags=("python", "pandas"),
        score=3,
        accepted=101,
        licence="CC BY-SA 4.0",
    ),
    Written(
        101,
        "Since 2.0 it is gone. Use this:\n\n```python\npd.concat([a, b])\n```\n\nIn pandas==1.3.5 you still can:\n\n```python\na.append(b)\n```\n",
        '<p>Since 2.0 it is gone. Use this:</p>\n<pre class="lang-py prettyprint-override"><code class="language-python">pd.concat([a, b])\n</code></pre>\n'
        '<p>In pandas==1.3.5 you still can:</p>\n<pre><code class="language-python">a.append(b)\n</code></pre>\n',
        day(2023, 5),
        parent=100,
        author="Bo <b> Example",
        author_id=22,
        score=-1,
        edited=day(2024),
    ),
    Written(
        102,
        "Works for me:\n\n    a.append(b)\n",
        "<p>Works for me:</p>\n\n<pre><code>a.append(b)\n</code></pre>\n",
        day(2022),
        parent=100,
        author="user1234",
        author_id=None,
    ),
    Written(
        110,
        "How do I concatenate?\n\n    a + b\n",
        "<p>How do I concatenate?</p>\n\n<pre><code>a + b\n</code></pre>\n",
        day(2010),
        title="Concatenate two frames",
        tags=("pandas",),
    ),
    Written(
        111,
        "It differs between pandas 0.25 and 1.0:\n\n    pd.concat([a, b])\n",
        "<p>It differs between pandas 0.25 and 1.0:</p>\n\n<pre><code>pd.concat([a, b])\n</code></pre>\n",
        day(2020, 3),
        parent=110,
    ),
    Written(
        112,
        "With pandas 5.0:\n\n    pd.concat([a, b])\n\nWith pandas 1.2.4:\n\n```sql\nSELECT 1\n```\n",
        "<p>With pandas 5.0:</p>\n\n<pre><code>pd.concat([a, b])\n</code></pre>\n\n<p>With pandas 1.2.4:</p>\n"
        '<pre class="lang-sql s-code-block"><code class="language-sql">SELECT 1\n</code></pre>\n',
        day(2022, 3),
        parent=110,
    ),
    Written(
        120,
        "With jquery-3.5.1.min.js this fails:\n\n    $('#a').on('click', function (e) {\n      e.preventDefault();\n    });\n\nand says\n\n    Uncaught TypeError: undefined is not a function\n        at foo.js:3\n",
        "<p>With jquery-3.5.1.min.js this fails:</p>\n\n<pre><code>$('#a').on('click', function (e) {\n  e.preventDefault();\n});\n</code></pre>\n\n"
        "<p>and says</p>\n\n<pre><code>Uncaught TypeError: undefined is not a function\n    at foo.js:3\n</code></pre>\n",
        day(2020, 6),
        title="Clicking fails",
        tags=("javascript", "jquery"),
    ),
    Written(
        130,
        "I have numpy 1.21.0.\n\n    np.array(1)\n",
        "<p>I have numpy 1.21.0.</p>\n\n<pre><code>np.array(1)\n</code></pre>\n",
        day(2021, 9),
        title="A question about another library",
        tags=("python", "numpy"),
    ),
    Written(
        140,
        "    df.iteritems()\n",
        "<pre><code>df.iteritems()\n</code></pre>\n",
        day(2023, 8),
        title="What replaces iteritems in pandas 2.0.3?",
        tags=("python", "dataframe"),
    ),
]
