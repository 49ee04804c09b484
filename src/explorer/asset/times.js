// Shows times in UTC, as the server writes them, or in the visitor's own zone.

const KEY = 'zone'
const button = document.querySelector('button.zone')

/** Where the browser keeps nothing, the choice holds for the page. */
let isLocal = (() => {
  try {
    return localStorage.getItem(KEY) === 'local'
  } catch {
    return false
  }
})()

// Of all languages Swedish writes times as ISO 8601 does.
const local = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })
const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' })

/** @param {string} iso */
const written = iso => {
  if (!isLocal) return `${iso.slice(0, 19).replace('T', ' ')} UTC`
  const time = new Date(iso)
  const name = zone.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return `${local.format(time)} ${name}`
}

const show = () => {
  if (button instanceof HTMLElement) {
    button.textContent = (isLocal ? button.dataset['local'] : button.dataset['utc']) ?? ''
    button.setAttribute('aria-pressed', String(isLocal))
  }
  for (const time of document.querySelectorAll('time')) {
    const text = written(time.dateTime)
    if (time.classList.contains('at')) time.textContent = text
    else if (time.classList.contains('ago')) time.title = text
    // Without the zone, which the switch names; to the second, as blocks come twice in one.
    if (time.classList.contains('day')) time.textContent = text.slice(0, 19)
  }
}

if (isLocal) show()
document.addEventListener('rows', show)
button?.addEventListener('click', () => {
  isLocal = !isLocal
  try {
    localStorage.setItem(KEY, isLocal ? 'local' : 'utc')
  } catch {}
  show()
})
