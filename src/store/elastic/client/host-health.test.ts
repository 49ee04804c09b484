import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { HostHealth } from './host-health.ts'

type Host = 'a' | 'b' | 'c'

/** `answerMs`: time after which each host answers a probe; undefined: it does not answer. */
function open(hosts: readonly Host[], answerMs: Partial<Record<Host, number>> = {}) {
  const clock = handClock()
  const dead: Host[] = []
  const health = new HostHealth<Host>({
    hosts,
    probe: async (host, limitMs) => {
      const { [host]: ms = limitMs } = answerMs
      await clock.sleep(ms)
      return ms < limitMs
    },
    onDead: host => dead.push(host),
    clock,
  })
  const six = () =>
    Array.from({ length: 6 }, () => health.next(health.usable))
      .toSorted()
      .join('')
  return { clock, health, dead, six, answerMs }
}

test('hosts take turns without the silent ones, or all of them if all are silent', () => {
  const { health, six } = open(['a', 'b', 'c'])
  expect([six(), health.without('a')]).toEqual(['aabbcc', ['b', 'c']])
  health.failed('b')
  expect([six(), health.usable, health.without('a')]).toEqual(['aaaccc', ['a', 'c'], ['c']])
  health.failed('a')
  expect([six(), health.without('c')]).toEqual(['cccccc', ['c']])
  health.failed('c')
  expect(six()).toBe('aabbcc')
  health.close()
  const alone = open(['a'])
  alone.health.failed('a')
  expect([alone.six(), alone.health.without('a')]).toEqual(['aaaaaa', ['a']])
})

test('a host that answers much later than the first one is silent until it is as fast; its requests are given up once it has not answered for seconds', async () => {
  const { clock, health, dead, answerMs } = open(['a', 'b'], { a: 10, b: 300 })
  health.round()
  await clock.pass(209)
  expect(health.usable).toEqual(['a', 'b'])
  await clock.pass(1)
  expect(health.usable).toEqual(['a'])
  await clock.pass(10_000)
  expect([health.usable, dead]).toEqual([['a'], []])
  delete answerMs.b
  await clock.pass(4_000)
  expect([health.usable, dead]).toEqual([['a'], ['b']])
  answerMs.b = 20
  await clock.pass(4_000)
  expect(health.usable).toEqual(['a', 'b'])
  health.close()
})

test('the delay of the last round does not silence a host that answers the next one', async () => {
  // The wait for others is four times as long as that for the first answer.
  const { clock, health, answerMs } = open(['a', 'b'], { a: 800 })
  health.round()
  await clock.pass(2_500)
  expect(health.usable).toEqual(['a'])
  Object.assign(answerMs, { a: 1, b: 1 })
  await clock.pass(5_000)
  expect(health.usable).toEqual(['a', 'b'])
  health.close()
})

test('no host is silent if none answers', async () => {
  const { clock, health, dead } = open(['a', 'b'])
  health.round()
  await clock.pass(10_000)
  expect([health.usable, dead]).toEqual([['a', 'b'], []])
})
