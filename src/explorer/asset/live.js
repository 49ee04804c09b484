// Keeps the parts of a visible page that are marked with `data-live` up to date. A stream carries each published height; the
// script then fetches the page again and replaces these parts, which is called a look. Without a stream it looks at
// intervals. New rows are highlighted, and a table keeps its number of rows.

/** The shortest pause between two looks; each failed look doubles it, up to `LONGEST_MS`. */
const GAP_MS = 1_000
/** The pause between two looks without a stream; while nothing changes it grows by half, up to `LONGEST_MS`. */
const PAUSE_MS = 4_000
const LONGEST_MS = 60_000

const { body } = document
const sign = document.querySelector('.live')

let gapMs = GAP_MS
let pauseMs = PAUSE_MS
/** When the last look ended. */
let lookedAt = 0
let isLooking = false
/** There is something new that the page does not show yet. */
let isDue = false
/** A part was not taken over, since somebody is reading it. */
let isHeld = false
/** The last height from the stream. */
let told = body.dataset['height'] ?? ''
let isStreamed = false
/** @type {EventSource | undefined} */
let stream
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting
/** @type {ReturnType<typeof setTimeout> | undefined} */
let reopening

/**
 * The text of a row, without its age.
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
 * The text of a part, without ages such as `3 seconds ago`.
 * @param {Element} part
 */
const textIn = part => {
  const copy = /** @type {Element} */ (part.cloneNode(true))
  for (const ago of copy.querySelectorAll('.ago')) ago.remove()
  return copy.textContent
}

/**
 * Replaces one part, and returns whether it changed. A part under the pointer or with the focus stays for now.
 * @param {Element} here
 * @param {Element} now
 */
const take = (here, now) => {
  if (here.matches(':hover, :focus-within')) {
    isHeld = true
    return false
  }
  if (here instanceof HTMLTableElement && now instanceof HTMLTableElement) return takeRows(here, now)
  const isChanged = textIn(here) !== textIn(now)
  if (here.textContent !== now.textContent) here.replaceChildren(...now.childNodes)
  return isChanged
}

/** @returns {Promise<boolean>} */
const look = async () => {
  // The service counts a look apart from visits, and makes no page for it that is older than this height.
  const headers = { Accept: 'text/html', 'X-Live-Height': told }
  const answer = await fetch(location.href, { headers, cache: 'no-cache' })
  if (!answer.ok) throw new Error(`${answer.status}`)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  let isChanged = false
  isHeld = false
  for (const here of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-live]'))) {
    const now = page.querySelector(`[data-live="${here.dataset['live']}"]`)
    if (now !== null && take(here, now)) isChanged = true
  }
  body.dataset['height'] = page.body.dataset['height'] ?? ''
  document.dispatchEvent(new Event('rows'))
  return isChanged
}

const rest = () => {
  clearTimeout(waiting)
  waiting = undefined
}

/** @param {number} ms */
const lookAfter = ms => {
  rest()
  waiting = setTimeout(run, Math.max(ms, lookedAt + gapMs - performance.now()))
}

/** The head of the chain moves without a published height, and so does a page without a stream. */
const isAskedFor = () =>
  !isStreamed || isHeld || document.querySelector('[data-live="figures"]') !== null || isBehind()

const isBehind = () => Number(body.dataset['height']) < Number(told)

const run = async () => {
  if (document.hidden || isLooking) return
  waiting = undefined
  isLooking = true
  isDue = false
  try {
    pauseMs = (await look()) ? PAUSE_MS : Math.min(LONGEST_MS, pauseMs * 1.5)
    gapMs = GAP_MS
  } catch {
    isDue = true
    gapMs = Math.min(LONGEST_MS, gapMs * 2)
  }
  isLooking = false
  lookedAt = performance.now()
  if (isDue) lookAfter(0)
  else if (isAskedFor()) lookAfter(pauseMs)
}

/** @param {boolean} is */
const setStreamed = is => {
  isStreamed = is
  sign?.setAttribute('data-state', is ? 'on' : 'late')
}

const open = () => {
  const own = new EventSource(`${body.dataset['root'] ?? ''}live`)
  stream = own
  let isFirst = true
  own.addEventListener('message', ({ data }) => {
    told = data
    // The first one tells where the chain is, each other one that it has moved.
    isDue ||= !isFirst || data !== body.dataset['height']
    isFirst = false
    pauseMs = PAUSE_MS
    setStreamed(true)
    if (isLooking) return
    if (isDue) lookAfter(0)
    else if (isAskedFor()) lookAfter(pauseMs)
    else rest()
  })
  own.addEventListener('error', () => {
    isFirst = true
    setStreamed(false)
    if (waiting === undefined && !isLooking) lookAfter(pauseMs)
    // A browser comes again by itself after a broken connection, but not after a refusal.
    if (own.readyState === EventSource.CLOSED) reopening = setTimeout(open, LONGEST_MS)
  })
}

const openWhileSeen = () => {
  rest()
  clearTimeout(reopening)
  stream?.close()
  if (document.hidden) return
  pauseMs = PAUSE_MS
  open()
  // A proxy may hold the stream back, so that nothing arrives.
  lookAfter(pauseMs)
}

// The first page of a list changes; what others show moves on only because rows come before it.
if (
  document.querySelector('table[data-live]') !== null &&
  !new URLSearchParams(location.search).has('page')
) {
  document.addEventListener('visibilitychange', openWhileSeen)
  openWhileSeen()
}
