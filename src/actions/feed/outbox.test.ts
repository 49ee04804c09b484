import { expect, test } from 'bun:test'
import { openOutbox } from './outbox.ts'

const limited = (onEnd?: () => void) => openOutbox({ mostBytes: 100, full: 'cut' }, onEnd)
const next = async (items: AsyncGenerator<string, void>) => (await items.next()).value

test('outbox: above the limit the waiting items are dropped and the reader is cut off; items taken before stay', async () => {
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

test('outbox: a single item of any length fits, and a keep-alive is added only when no item waits', async () => {
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

test('outbox: a closed outbox returns nothing to a waiting reader', async () => {
  const box = limited()
  const taken = next(box.items())
  box.close()
  box.put('a')
  expect(await taken).toBeUndefined()
})
