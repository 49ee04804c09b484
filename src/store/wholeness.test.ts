import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { watchWholeness } from './wholeness.ts'

const lost = new Failure('damaged', 'lost')

/** A store whose checks end when the test resolves them, in any order. */
function checked() {
  const checks: PromiseWithResolvers<Failure | undefined>[] = []
  const check = (): Promise<Failure | undefined> => {
    const made = Promise.withResolvers<Failure | undefined>()
    checks.push(made)
    return made.promise
  }
  return { checks, whole: watchWholeness({ check, elapsed: () => 0 }) }
}

test('wholeness: the result of a check that began before a change of the store is not used for later requests', async () => {
  const { checks, whole } = checked()
  const early = whole.require()
  whole.expire()
  const late = whole.require()
  expect(checks).toHaveLength(2)
  checks[1]?.resolve(lost)
  await expect(late).rejects.toThrow('lost')
  checks[0]?.resolve(undefined)
  await early
  expect(() => whole.require()).toThrow('lost')
  expect(checks).toHaveLength(2)
})

test('wholeness: a request without results waits for a check that begins then and is shared by others', async () => {
  const { checks, whole } = checked()
  const first = whole.require()
  const [one, two] = [whole.requireNow(), whole.requireNow()]
  expect(checks).toHaveLength(1)
  checks[0]?.resolve(undefined)
  await first
  await Promise.resolve()
  expect(checks).toHaveLength(2)
  checks[1]?.resolve(lost)
  const told = await Promise.allSettled([one, two])
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(() => whole.require()).toThrow('lost')
})

test('wholeness: a failed check is reported to all waiting requests, and the next request starts another', async () => {
  const { checks, whole } = checked()
  const first = whole.require()
  checks[0]?.reject(new Failure('unavailable', 'away'))
  await expect(first).rejects.toThrow('away')
  const second = whole.require()
  checks[1]?.resolve(undefined)
  await second
  expect(whole.require()).toBeUndefined()
})
