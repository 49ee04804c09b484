// Shows times in UTC, as the server writes them, or in the visitor's time zone.

const KEY = 'zone'
const button = document.querySelector('button.zone')

/** The stored choice. Without storage, a choice lasts for the page. */
let isLocal = (() => {
  try {
    return localStorage.getItem(KEY) === 'local'
  } catch {
    return false
  }
})()

// The Swedish locale formats times like ISO 8601.
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
    // Without the zone, which the switch shows. With seconds, since the chain makes two blocks per second.
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
