import type { Page } from '../support/browser/page.ts'

/**
 * A function of a page in the browser and the window's width: what is wrong with its layout, as sentences. A word of
 * the interface is any word outside of texts of the chain; of those, only words that are no longer than a name.
 */
const LAYOUT_FAULTS = `width => {
  const NAME = /^[\\w.]{1,16}$/
  /** Parts that scroll are this much wider than their card's content, for the outline of the focus. */
  const EDGE = 5
  const faults = new Set()
  const named = each => each.tagName.toLowerCase() + (each.getAttribute('class') ? '.' + each.getAttribute('class') : '')
  const note = (fault, each, text = '') =>
    faults.add(fault + ': ' + named(each.parentElement) + ' > ' + named(each) + ' ' + text.trim().slice(0, 40))
  const isShown = each => each.checkVisibility({ visibilityProperty: true }) && each.closest('.sr, .skip, .anchor, .cards thead') === null
  const everyShown = selector => [...document.querySelectorAll(selector)].filter(isShown)
  const styleOf = each => getComputedStyle(each)
  const scrollerOf = each => {
    for (let up = each; up !== null; up = up.parentElement) if (/auto|scroll/.test(styleOf(up).overflowX)) return up
  }
  const lines = rects => {
    const sorted = [...rects].filter(({ width }) => width > 0).sort((a, b) => a.top - b.top)
    let count = 0
    let bottom = -Infinity
    for (const rect of sorted) {
      if (rect.top + rect.height / 3 > bottom) count += 1
      bottom = Math.max(bottom, rect.bottom)
    }
    return count
  }
  const isCut = (each, size, shown) => each[size] > each[shown] + 1

  const noteWide = () => {
    const { scrollWidth } = document.documentElement
    if (scrollWidth !== width) note('not as wide as the window', document.body, scrollWidth + ' px')
  }
  noteWide()
  for (const each of document.querySelectorAll('details')) each.open = true
  noteWide()
  for (const [size, shown, overflow] of [['scrollWidth', 'clientWidth', 'overflowX'], ['scrollHeight', 'clientHeight', 'overflowY']])
    for (const each of document.querySelectorAll('body *:not(input, textarea)'))
      if (isCut(each, size, shown) && /hidden|clip/.test(styleOf(each)[overflow]) && isShown(each)) note('cut', each, each.textContent)
  // What is in a part that scrolls is cut off at its edge.
  for (const card of document.querySelectorAll('main .card')) {
    const edge = card.getBoundingClientRect().right + 0.5
    for (const each of card.querySelectorAll('*'))
      if (each.getBoundingClientRect().right > edge && isShown(each) && each.closest('svg, pre, .inner') === null)
        note('beyond its card', each)
  }

  const range = document.createRange()
  /** Whether the selected text of an element leaves the part of the page around it, which does not scroll. */
  const isBeyond = each => {
    const around = each.closest('.card, .bar, main, .foot') ?? document.body
    const { right } = around.getBoundingClientRect()
    const edge = right - parseFloat(styleOf(around).paddingRight)
    return range.getBoundingClientRect().right > edge + EDGE && scrollerOf(each) === undefined
  }
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  const wordsIn = (text, isLabel) =>
    isLabel && /\\p{Script=Han}/u.test(text)
      ? [...segmenter.segment(text)].filter(each => each.isWordLike).map(({ index, segment }) => [index, segment])
      : [...text.matchAll(/[^\\s\\-\\/…\\p{Script=Han}（）：，。、；“”]+/gu)].map(each => [each.index, each[0]])
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const parent = node.parentElement
    if (node.data.trim() === '' || !isShown(parent) || parent.closest('script, svg, pre, data, .number') !== null) continue
    // Texts of profiles are markup here.
    const isOurs = parent.closest('bdi, code, .chain, .prose, .failure') === null && !/<\\w/.test(node.data)
    const isLabel = parent.closest('th, dt, nav, button, .badge, .way, .tabs, .sorts, .label, summary') !== null && !parent.matches('summary > small')
    range.selectNodeContents(node)
    if (isBeyond(parent)) note('beyond its card', parent, node.data)
    if (lines(range.getClientRects()) < 2) continue
    for (const [index, word] of wordsIn(node.data, isLabel)) {
      if (!isOurs && !NAME.test(word)) continue
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (lines(range.getClientRects()) > 1) note('broken word', parent, word)
    }
  }
  for (const each of everyShown('data, .number')) {
    range.selectNodeContents(each)
    if (lines(range.getClientRects()) > 1) note('broken number', each, each.textContent)
    if (isBeyond(each)) note('beyond its card', each, each.textContent)
  }
  for (const each of everyShown('.lines i')) {
    const { height, lineHeight } = getComputedStyle(each, '::before')
    if (parseFloat(height) > 1.5 * parseFloat(lineHeight)) note('broken line number', each, height)
  }
  for (const each of everyShown('svg.dates')) {
    const labels = [...each.querySelectorAll('text')].map(text => text.getBoundingClientRect()).sort((a, b) => a.left - b.left)
    if (labels.some(({ left }, at) => at > 0 && left < labels[at - 1].right + 4)) note('labels touch', each, each.textContent)
  }
  for (const each of everyShown('.cards td .ago.day'))
    if (each.closest('.inner') === null && each.getBoundingClientRect().height > 2.5 * parseFloat(styleOf(each).lineHeight)) note('time of three lines', each, each.textContent)
  const header = lines([...document.querySelectorAll('.top :is(a, input, button)')].filter(isShown).map(each => each.getBoundingClientRect()))
  if (header > 2) note('header of ' + header + ' lines', document.querySelector('.top'))
  return [...faults]
}`

/** The faults of an open page, each with the widths at which it is seen. */
export async function findFaults(page: Page, widths: readonly number[]): Promise<readonly string[]> {
  const seen = new Map<string, number[]>()
  for (const width of widths) {
    await page.resize(width)
    for (const fault of await page.run<readonly string[]>(`(${LAYOUT_FAULTS})(${width})`))
      seen.set(fault, [...(seen.get(fault) ?? []), width])
  }
  return [...seen].map(([fault, at]) => `${fault} at ${at}`)
}
