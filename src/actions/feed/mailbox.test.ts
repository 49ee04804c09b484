import { expect, test } from 'bun:test'
import { openMailbox, type Piece } from './mailbox.ts'

const piece = (bytes: number, last: number): Piece => ({
  kind: 'rows',
  bytes: new Uint8Array(bytes),
  count: 1,
  last,
  place: undefined,
  id: String(last),
})

test('mailbox: for whom too much waits, that is dropped and the feed ends; what was taken before it stays', async () => {
  const box = openMailbox(100)
  let endings = 0
  box.onEnding(() => {
    endings += 1
  })
  box.put(piece(60, 1))
  expect(await box.take()).toMatchObject({ last: 1 })
  box.put(piece(60, 2))
  box.put(piece(40, 3))
  expect(endings).toBe(0)
  box.put(piece(1, 4))
  box.put(piece(1, 5))
  expect([endings, box.ending(), await box.take()]).toEqual([1, { kind: 'cut' }, { kind: 'cut' }])
})
test('mailbox: one piece fits however long it is, and a comment comes only when nothing waits', async () => {
  const box = openMailbox(100)
  box.put(piece(1_000, 1))
  box.put({ kind: 'beat', height: 7, head: undefined })
  expect(await box.take()).toMatchObject({ last: 1 })
  box.put({ kind: 'beat', height: 8, head: undefined })
  expect(await box.take()).toMatchObject({ height: 8 })
})
test('mailbox: one that is closed gives nothing to who waits', async () => {
  const box = openMailbox()
  const taken = box.take()
  box.close()
  box.put(piece(1, 1))
  expect(await taken).toBeUndefined()
})
