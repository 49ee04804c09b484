import { expect, test } from 'bun:test'
import { visible } from '../format/text.ts'
import { Code } from './text.tsx'

test('code: text is escaped, each line has a number mark, and all kinds of line ends are equal', async () => {
  const html = await Code({ text: visible("let a = '<b>'\r\n\r\n// </pre>&\n"), language: 'javascript' })
  expect(html).toContain(
    `<i></i><span class="js-keyword">let</span> a = <span class="js-string">&#x27;&lt;b&gt;&#x27;</span>\n<i></i>\n<i></i><span class="js-comment">// &lt;/pre&gt;&amp;</span>`,
  )
})

test('code: code in another language has line numbers only', async () => {
  const html = await Code({ text: 'let a = 1\n<b>', language: 'native' })
  expect(html).toContain('<i></i>let a = 1\n<i></i>&lt;b&gt;')
  expect(html).not.toContain('js-')
})

test('code: the number of marks is limited, and the whole text is shown', async () => {
  const text = '1,'.repeat(8_192)
  const html = await Code({ text, language: 'javascript' })
  expect(html.length).toBeLessThan(100_000)
  expect(html.replaceAll(/<[^>]*>/g, '').trim()).toBe(text)
})
