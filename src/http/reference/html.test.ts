import { expect, test } from 'bun:test'
import { breakable, html, table } from './html.ts'

test('html: inserted values are escaped, HTML is not', () => {
  const bad = `<script>"'&`
  expect(html`<a title="${bad}">${bad}${html`<b>${bad}</b>`}${[html`x`, html`y`]}${7}</a>`.text).toBe(
    '<a title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;<b>&lt;script&gt;&quot;&#39;&amp;</b>xy7</a>',
  )
})

test('table: heads and cells are escaped', () => {
  expect(table(['<h>'], [['<c>', html`<code>x</code>`]]).text).toBe(
    '<div class="wide" tabindex="0"><table class="rows">\n<thead><tr><th>&lt;h&gt;</th></tr></thead>\n<tbody><tr><td>&lt;c&gt;</td><td><code>x</code></td></tr>\n</tbody>\n</table></div>',
  )
})

test('breakable: a line may break after dots and slashes, never within a name', () => {
  expect(breakable('a[].b_c.{}.d').text).toBe('a[].<wbr>b_c.<wbr>{}.<wbr>d')
  expect(breakable('/api/x?a=1&b=<2>').text).toBe('/<wbr>api/<wbr>x?<wbr>a=1&amp;<wbr>b=&lt;2&gt;')
})
