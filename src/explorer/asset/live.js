// Keeps what a page marks with `data-live` as it is now, while the page is seen: asks for the page again and takes these
// parts over. Rows that were not there before are highlighted, and a table has as many rows as before.

/** Between two looks; while nothing changes each pause is half as long again, up to the longest. */
const PAUSE_MS = 4_000
const LONGEST_MS = 60_000

let pauseMs = PAUSE_MS
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting

/**
 * What a row says beside how long ago it was.
 * @param {HTMLTableRowElement} row
 */
const saying = row =>
  [...row.cells].map(cell => (cell.querySelector('.ago') === null ? cell.textContent : '')).join('\n')

/**
 * @param {HTMLTableElement} here
 * @param {HTMLTableElement} now
 */
const takeRows = (here, now) => {
  const [old, body] = [here.tBodies[0], now.tBodies[0]]
  if (old === undefined || body === undefined) return false
  const known = new Set([...old.rows].map(saying))
  const fresh = [...body.rows].filter(row => !known.has(saying(row)))
  for (const row of fresh) row.classList.add('fresh')
  old.replaceChildren(...body.rows)
  return fresh.length > 0
}

/**
 * Takes one part over, and says whether it changed. What is read with the pointer or has the focus stays.
 * @param {Element} here
 * @param {Element} now
 */
const take = (here, now) => {
  if (here.matches(':hover, :focus-within')) return false
  if (here instanceof HTMLTableElement && now instanceof HTMLTableElement) return takeRows(here, now)
  const isChanged = here.textContent !== now.textContent
  if (isChanged) here.replaceChildren(...now.childNodes)
  return isChanged
}

/** @returns {Promise<boolean>} */
const look = async () => {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok) throw new Error(`${answer.status}`)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  let isChanged = false
  for (const here of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-live]'))) {
    const now = page.querySelector(`[data-live="${here.dataset['live']}"]`)
    if (now !== null && take(here, now)) isChanged = true
  }
  document.dispatchEvent(new Event('rows'))
  return isChanged
}

const again = () => {
  clearTimeout(waiting)
  if (document.hidden) return
  waiting = setTimeout(async () => {
    try {
      pauseMs = (await look()) ? PAUSE_MS : Math.min(LONGEST_MS, pauseMs * 1.5)
    } catch {
      pauseMs = LONGEST_MS
    }
    again()
  }, pauseMs)
}

// The first page of a list changes; what others show moves on only because rows come before it.
if (
  document.querySelector('table[data-live]') !== null &&
  !new URLSearchParams(location.search).has('page')
) {
  document.addEventListener('visibilitychange', () => {
    pauseMs = PAUSE_MS
    again()
  })
  again()
}
