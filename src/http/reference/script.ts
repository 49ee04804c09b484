/**
 * Formats a JSON text with one value per line. Numbers are not parsed, so every digit is kept. The page's
 * script contains this function by its source text, so the function refers to nothing outside of it.
 */
export function prettyJson(json: string): string {
  let text = ''
  let depth = 0
  const line = (): string => `\n${'  '.repeat(depth)}`
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === '{' || token === '[') {
      depth += 1
      text += token + line()
    } else if (token === '}' || token === ']') {
      depth -= 1
      text += line() + token
    } else if (token === ',') text += token + line()
    else if (token === ':') text += ': '
    else text += token
  }
  return text
}

/** The script of the reference. It is served and never run here, so it is a text. It contains no template literals. */
const own = String.raw`
// The page can be read without this script. It adds search, forms that send, copying, and the address of the service.
// Relative addresses only, so that it works behind any path; the key stays in its field and goes out in a header.

const words = document.getElementById('main').dataset
const keyField = document.getElementById('key')
const service = new URL('..', location.href).href.replace(/\/$/, '')

/** Characters of an answer that are shown. */
const SHOWN = 200000

for (const pre of document.querySelectorAll('pre.sample'))
  pre.textContent = pre.textContent.replaceAll('SERVICE_URL', service)

const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target === null) return
  let at = target.querySelector(':scope > details') ?? target.closest('details')
  while (at) {
    at.open = true
    at = at.parentElement.closest('details')
  }
  target.scrollIntoView()
}
addEventListener('hashchange', reveal)
reveal()

// Search: entries that have every word.
const find = document.getElementById('find')
const found = document.getElementById('found')
const links = [...document.querySelectorAll('.contents a')]
const entries = [...document.querySelectorAll('article, [data-find]')].map(element => ({
  element,
  link: links.find(({ hash }) => hash === '#' + element.id)?.closest('li'),
  text: element.textContent.toLowerCase(),
}))
const search = () => {
  const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean)
  let count = 0
  for (const { element, link, text } of entries) {
    const has = wanted.every(word => text.includes(word))
    element.hidden = !has
    if (link) link.hidden = !has
    if (has) count += 1
  }
  found.textContent = wanted.length === 0 ? '' : words.found.replace('{}', count)
}
find.addEventListener('input', search)
find.addEventListener('keydown', event => {
  if (event.key === 'Escape') find.value = ''
  if (event.key === 'Escape') search()
  const left = entries.filter(({ element }) => !element.hidden)
  const first = left.find(({ element }) => element.id.includes(find.value.trim().toLowerCase())) ?? left[0]
  if (event.key !== 'Enter' || first === undefined) return
  location.hash = first.element.id
  first.element.querySelector('summary')?.focus()
})
document.addEventListener('keydown', event => {
  if (event.key !== '/' || event.target.closest('input, select, textarea')) return
  event.preventDefault()
  find.focus()
})

// Copying: where the browser gives no clipboard, the text is selected.
document.addEventListener('click', async ({ target }) => {
  if (!target.matches('button.copy-text')) return
  const text = target.parentElement.querySelector('pre')
  try {
    await navigator.clipboard.writeText(text.textContent)
    target.textContent = words.copied
  } catch {
    getSelection().selectAllChildren(text)
  }
})

/** The text of an answer, as far as it is shown. */
const textOf = async response => {
  if (response.body === null) return ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += value
    if (text.length <= SHOWN) continue
    await reader.cancel()
    return text.slice(0, SHOWN) + '\n' + words.cut
  }
}

const show = (form, line, text) => {
  const place = form.querySelector('.answer')
  place.querySelector('p').textContent = line
  const pre = place.querySelector('pre')
  pre.hidden = text === undefined
  pre.textContent = text ?? ''
}

const send = async form => {
  const key = keyField.value.trim()
  if (key === '') {
    show(form, words.needKey)
    keyField.focus()
    return
  }
  const filled = [...new FormData(form)].filter(([, value]) => value !== '')
  // All rows at once have no pages.
  const isWhole = filled.some(([name, value]) => name === 'format' && (value === 'ndjson' || value === 'csv'))
  const given = filled.filter(([name]) => !isWhole || (name !== 'page' && name !== 'size'))
  const query = new URLSearchParams(given).toString()
  show(form, words.sending)
  try {
    const response = await fetch(form.dataset.path + (query === '' ? '' : '?') + query, {
      headers: { 'X-API-Key': key },
      cache: 'no-store',
    })
    const text = await textOf(response)
    const height = response.headers.get('X-Block-Height')
    const isJson =
      response.headers.get('Content-Type')?.startsWith('application/json') && text.length <= SHOWN
    show(
      form,
      'HTTP ' + response.status + (height === null ? '' : ' · X-Block-Height: ' + height),
      isJson ? prettyJson(text) : text,
    )
  } catch (error) {
    show(form, words.failed + ' ' + error.message)
  }
}

document.addEventListener('submit', event => {
  event.preventDefault()
  if (event.target.matches('form.try')) void send(event.target)
})
`

/** The script of the reference as a separate file. */
export const script = `'use strict'
{
const prettyJson = ${prettyJson.toString()}
${own}}
`
