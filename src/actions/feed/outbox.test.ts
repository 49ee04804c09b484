import { expect, test } from 'bun:test'
import { openOutbox } from './outbox.ts'

const limited = (onEnd?: () => void) => openOutbox({ mostBytes: 100, full: 'cut' }, onEnd)
const next = async (items: AsyncGenerator<string, void>) => (await items.next()).value

test('outbox: what waits beyond the limit is dropped and the reader is cut; what was taken before stays', async () => {
  let ends = 0
  const box = limited(() => {
    ends += 1
  })
  const items = box.items()
  box.put('a', 60)
  expect(await next(items)).toBe('a')
  box.put('b', 60)
  box.put('c', 40)
  expect([ends, box.isOver()]).toEqual([0, false])
  box.put('d', 1)
  box.put('e', 1)
  box.end('later')
  expect([ends, box.isOver(), await next(items), await next(items)]).toEqual([1, true, 'cut', undefined])
})

test('outbox: one item fits however long it is, and a sign of life comes only when nothing waits', async () => {
  const box = limited()
  const items = box.items()
  box.put('long', 1_000)
  box.beat('beat 1')
  expect(await next(items)).toBe('long')
  box.beat('beat 2')
  expect(await next(items)).toBe('beat 2')
  box.put('old')
  box.replace('new')
  expect(await next(items)).toBe('new')
})

test('outbox: one that is closed gives nothing to a reader who waits', async () => {
  const box = limited()
  const taken = next(box.items())
  box.close()
  box.put('a')
  expect(await taken).toBeUndefined()
})
