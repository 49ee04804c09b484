// Keeps a visible page of the newest rows up to date. A stream, shared by all windows of the browser (live-worker.js),
// delivers each published height, and the first fault of the service. The script then fetches the page again (a look)
// and copies all changes into this page, so that the whole page is of one height. Without a stream it fetches the page
// at intervals. New rows are highlighted.

/** The shortest pause between two looks, milliseconds. Each failed look doubles it, up to `LONGEST_MS`. */
const GAP_MS = 1_000
/**
 * The pause between two looks without a stream. While nothing changes it grows by half, up to `LONGEST_MS`.
 */
const PAUSE_MS = 4_000
const LONGEST_MS = 60_000

const { body } = document
const sign = document.querySelector('.live')

let gapMs = GAP_MS
let pauseMs = PAUSE_MS
/** End of the last look, by `performance.now()`. */
let lookedAt = 0
let isLooking = false
/** Whether the page lacks newer data. */
let isDue = false
/** Whether an update was postponed, since a visitor is reading the rows. */
let isHeld = false
/**
 * The fault that the service reports; null: none.
 * @type {string | null | undefined}
 */
let trouble
/** The latest height from the stream. */
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
  if (old === undefined || body === undefined) return
  const known = new Set([...old.rows].map(saying))
  const fresh = [...body.rows].filter(row => !known.has(saying(row)))
  for (const row of fresh) row.classList.add('fresh')
  old.replaceChildren(...body.rows)
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
 * Copies changed nodes one by one, so that forms keep their input and opened parts stay open.
 * @param {Node} here
 * @param {Node} now
 */
const take = (here, now) => {
  if (here.isEqualNode(now)) return
  if (here.nodeName !== now.nodeName) here.parentNode?.replaceChild(now, here)
  else if (!(here instanceof HTMLElement && now instanceof HTMLElement)) takeOther(here, now)
  else if (here instanceof HTMLTableElement && now instanceof HTMLTableElement && here.dataset['live'])
    takeRows(here, now)
  else if (here.matches('figure.plot')) takePlot(here, now)
  else if (!here.matches('.trouble')) takeParts(here, now)
}

/**
 * Copies a text node, or an element that is not HTML, such as a drawing.
 * @param {Node} here
 * @param {Node} now
 */
const takeOther = (here, now) => {
  if (here instanceof Text) here.data = now.textContent ?? ''
  else here.parentNode?.replaceChild(now, here)
}

/**
 * Replaces a plot only if its values changed: a visitor may be pointing at it.
 * @param {HTMLElement} here
 * @param {HTMLElement} now
 */
const takePlot = (here, now) => {
  if (here.dataset['points'] !== now.dataset['points']) here.replaceWith(now)
}

/**
 * @param {HTMLElement} here
 * @param {HTMLElement} now
 */
const takeParts = (here, now) => {
  const isKept = (/** @type {string} */ name) => name === 'open' && here instanceof HTMLDetailsElement
  for (const { name, value } of now.attributes) if (!isKept(name)) here.setAttribute(name, value)
  for (const { name } of [...here.attributes]) if (!now.hasAttribute(name) && !isKept(name)) here.removeAttribute(name)
  const olds = [...here.childNodes]
  const news = [...now.childNodes]
  for (const [at, each] of news.entries()) {
    const old = olds[at]
    if (old === undefined) here.append(each)
    else take(old, each)
  }
  for (const old of olds.slice(news.length)) old.remove()
}

/** Whether a visitor points at rows, or has the focus in them: an update would move them. */
const isRead = () => document.querySelector('table[data-live]:is(:hover, :focus-within)') !== null

/** @returns {Promise<boolean>} */
const look = async () => {
  isHeld = isRead()
  if (isHeld) return false
  // The service limits looks separately from visits, and returns no page older than this height.
  const headers = { Accept: 'text/html', 'X-Live-Height': told }
  const answer = await fetch(location.href, { headers, cache: 'no-cache' })
  if (!answer.ok) throw new Error(`${answer.status}`)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  isHeld = isRead()
  if (isHeld) return false
  let isChanged = false
  for (const part of ['main', 'footer']) {
    const [here, now] = [document.querySelector(part), page.querySelector(part)]
    if (here === null || now === null) continue
    isChanged ||= textIn(here) !== textIn(now)
    take(here, now)
  }
  document.title = page.title
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

/**
 * Whether the page needs polling: there is no stream, an update was postponed, the page is behind, or it
 * shows figures such as the chain's head, which changes without a published height.
 */
const isAskedFor = () => !isStreamed || isHeld || document.querySelector('[data-live="figures"]') !== null || isBehind()

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
  showState()
  if (isDue) lookAfter(0)
  else if (isAskedFor()) lookAfter(pauseMs)
}

/** Shows the state: live only if the page follows the stream and the service is current. */
const showState = () => {
  if (isStreamed && trouble === undefined) return
  const state = isStreamed ? (isHeld && isBehind() ? 'held' : trouble === null ? 'on' : 'stale') : 'late'
  sign?.setAttribute('data-state', state)
  const text = trouble ?? ''
  sign?.querySelector('.stale')?.setAttribute('title', text)
  const told = document.querySelector('.trouble')
  if (told !== null && told.textContent !== text) told.textContent = text
}

/** @param {boolean} is */
const setStreamed = is => {
  isStreamed = is
  showState()
}

/** Whether the next height is the first of a stream, which is the current one; each later one is new. */
let isFirst = true

/** @param {{ readonly type: string, readonly data?: string, readonly isClosed?: boolean }} message */
const hear = ({ type, data = '', isClosed }) => {
  if (document.hidden) return
  if (type === 'message') hearHeight(data)
  else if (type === 'standing') {
    trouble = JSON.parse(data).trouble
    showState()
  } else {
    isFirst = true
    setStreamed(false)
    if (waiting === undefined && !isLooking) lookAfter(pauseMs)
    // A browser reconnects by itself after a broken connection, but not after a refusal.
    if (isClosed) reopening = setTimeout(open, LONGEST_MS)
  }
}

/** @param {string} height */
const hearHeight = height => {
  told = height
  isDue ||= !isFirst || height !== body.dataset['height']
  isFirst = false
  pauseMs = PAUSE_MS
  setStreamed(true)
  if (isLooking) return
  if (isDue) lookAfter(0)
  else if (isAskedFor()) lookAfter(pauseMs)
  else rest()
}

const address = new URL(`${body.dataset['root'] ?? ''}live?lang=${body.dataset['lang'] ?? ''}`, location.href).href

/**
 * The worker that has the stream of all windows; null: this browser has no such workers, and each visible page has a
 * stream of its own. Such browsers are those of phones, whose screens show a page or two, and old ones.
 * @type {MessagePort | null | undefined}
 */
let shared = typeof SharedWorker === 'undefined' ? null : undefined

const join = () => {
  const worker = new SharedWorker(new URL('live-worker.js', import.meta.url), address)
  worker.port.addEventListener('message', ({ data }) => hear(data))
  worker.port.start()
  worker.addEventListener('error', () => {
    shared = null
    openWhileSeen()
  })
  return worker.port
}

const open = () => {
  isFirst = true
  if (shared !== null) {
    shared ??= join()
    shared.postMessage(true)
    return
  }
  const own = new EventSource(address)
  stream = own
  for (const type of ['message', 'standing']) own.addEventListener(type, ({ data }) => hear({ type, data }))
  own.addEventListener('error', () => hear({ type: 'error', isClosed: own.readyState === EventSource.CLOSED }))
}

const close = () => {
  clearTimeout(reopening)
  stream?.close()
  shared?.postMessage(false)
}

const openWhileSeen = () => {
  rest()
  // A window that stays visible stays with the shared stream: its worker ends the stream with the last visible window.
  if (document.hidden || !shared) close()
  else clearTimeout(reopening)
  if (document.hidden) return
  pauseMs = PAUSE_MS
  open()
  // A proxy may buffer the stream, so that no event arrives.
  lookAfter(pauseMs)
}

// Only the first page of a list changes. Other pages only shift when rows are added before them.
if (
  document.querySelector('[data-live]') !== null &&
  ['', '1'].includes(new URLSearchParams(location.search).get('page') ?? '')
) {
  document.addEventListener('visibilitychange', openWhileSeen)
  addEventListener('pagehide', close)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) openWhileSeen()
  })
  for (const leaving of ['pointerover', 'focusout'])
    document.addEventListener(leaving, () => {
      if (isHeld && !isLooking && !isRead()) lookAfter(0)
    })
  openWhileSeen()
}
