// Suggestions below the search box: an ARIA combobox with a list, for keyboard and pointer.

/** Milliseconds without a key press before a search is sent. */
const PAUSE_MS = 150

const input = document.querySelector('.search input')
const list = document.createElement('ul')
let asking = new AbortController()
/** @type {ReturnType<typeof setTimeout> | undefined} */
let pause
let chosen = -1

const options = () => /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll('[role=option]'))

/** @param {HTMLInputElement} box @param {boolean} isOpen */
const open = (box, isOpen) => {
  list.hidden = !isOpen
  box.setAttribute('aria-expanded', String(isOpen))
  if (!isOpen) choose(box, -1)
}

/** @param {HTMLInputElement} box @param {number} at */
const choose = (box, at) => {
  chosen = at
  for (const [place, option] of [...options()].entries()) {
    option.setAttribute('aria-selected', String(place === at))
    if (place !== at) continue
    box.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }
  if (at < 0) box.removeAttribute('aria-activedescendant')
}

/** @param {HTMLInputElement} box */
const ask = async box => {
  asking.abort()
  asking = new AbortController()
  const text = box.value.trim()
  if (text === '') return open(box, false)
  const { root = '', lang } = document.body.dataset
  const address = `${root}${lang === 'zh' ? 'zh/' : ''}suggest?${new URLSearchParams({ text })}`
  try {
    const answer = await fetch(address, { signal: asking.signal })
    if (!answer.ok) return open(box, false)
    const found = new DOMParser().parseFromString(await answer.text(), 'text/html')
    list.replaceChildren(...found.querySelectorAll('li'))
    for (const [at, option] of [...list.querySelectorAll('li')].entries()) {
      option.setAttribute('role', 'option')
      option.id = `found-${at}`
      option.dataset['to'] = new URL(option.dataset['to'] ?? '', answer.url).href
    }
    open(box, options().length > 0 && document.activeElement === box)
    choose(box, -1)
  } catch {
    // A newer request aborted this one, or the service does not answer. The form itself still works.
  }
}

/** @param {number} at */
const go = at => {
  const to = options()[at]?.dataset['to']
  if (to !== undefined) location.assign(to)
}

/** @param {HTMLInputElement} box @param {KeyboardEvent} event */
const press = (box, event) => {
  const { length } = options()
  if (list.hidden || length === 0 || event.isComposing) return
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step !== 0) choose(box, ((chosen < 0 && step < 0 ? 0 : chosen) + step + length) % length)
  else if (event.key === 'Escape') open(box, false)
  else if (event.key === 'Enter' && chosen >= 0) go(chosen)
  else return
  event.preventDefault()
}

if (input instanceof HTMLInputElement) {
  list.id = 'found'
  list.className = 'found'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', input.getAttribute('aria-label') ?? '')
  input.closest('form')?.append(list)
  input.setAttribute('role', 'combobox')
  input.setAttribute('aria-autocomplete', 'list')
  input.setAttribute('aria-controls', list.id)
  open(input, false)
  input.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => ask(input), PAUSE_MS)
  })
  input.addEventListener('keydown', event => press(input, event))
  input.addEventListener('blur', () => open(input, false))
  // The box keeps the focus when a suggestion is pressed.
  list.addEventListener('pointerdown', event => event.preventDefault())
  list.addEventListener('click', ({ target }) => {
    const option = target instanceof Element ? target.closest('[role=option]') : null
    if (option !== null) location.assign(/** @type {HTMLElement} */ (option).dataset['to'] ?? '')
  })
  document.addEventListener('keydown', event => {
    const { activeElement } = document
    // The slash focuses the box from anywhere on the page, except in a field for text.
    const isTyped = activeElement?.matches('input, textarea, select') === true
    if (event.key !== '/' || isTyped || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}
