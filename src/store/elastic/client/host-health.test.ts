import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { type Examined, HostChoice, HostHealth } from './host-health.ts'

type Host = 'a' | 'b' | 'c'

function open(
  hosts: readonly Host[],
  examined: (clock: ReturnType<typeof handClock>) => Pick<Examined<Host>, 'probe'> & Partial<Examined<Host>>,
) {
  const clock = handClock()
  const choice = new HostChoice<Host>(hosts, clock.elapsed)
  const health = new HostHealth<Host>({
    ...{ hosts, choice, clock },
    examined: { onDead: () => undefined, readBy: async () => true, ...examined(clock) },
  })
  return { clock, choice, health }
}

test('the health of hosts: the delay of the last round does not silence a host that answers the next one', async () => {
  let isBusy = true
  const { clock, choice, health } = open(['a', 'b'], ({ sleep }) => ({
    probe: async host => {
      if (host === 'b' && isBusy) return false
      await sleep(isBusy ? 600 : 1)
      return true
    },
  }))
  health.round()
  await clock.settle()
  // The grace period is four times as long.
  await clock.pass(600)
  expect([...choice.silent]).toEqual(['b'])
  isBusy = false
  await clock.pass(5_000)
  expect([...choice.silent]).toEqual([])
  health.close()
})

test('the health of hosts: a successful trial does not clear a host that is doubted by then', async () => {
  let tried = Promise.withResolvers<boolean>()
  const { clock, choice, health } = open(['a', 'b', 'c'], () => ({
    probe: async () => true,
    readBy: () => tried.promise,
  }))
  const doubt = (host: Host): void => {
    choice.noteFasterWithout(host)
    choice.noteFasterWithout(host)
  }
  doubt('a')
  health.round()
  await clock.settle()
  await clock.pass(2_000)
  doubt('b')
  tried.resolve(true)
  await clock.settle()
  expect(choice.doubted).toBe('b')
  tried = Promise.withResolvers<boolean>()
  tried.resolve(true)
  await clock.pass(5_000)
  expect(choice.doubted).toBeUndefined()
  health.close()
})

function openChoice(hosts: readonly string[]) {
  const clock = { now: 0 }
  const choice = new HostChoice(hosts, () => clock.now)
  const six = () =>
    Array.from({ length: 6 }, () => choice.next())
      .toSorted()
      .join('')
  return { clock, choice, six }
}

test('the choice of a host: hosts take turns without the silent ones, or all of them if all are silent', () => {
  const { choice, six } = openChoice(['a', 'b', 'c'])
  expect(six()).toBe('aabbcc')
  choice.noteSilent('b')
  expect([six(), choice.usable()]).toEqual(['aaaccc', ['a', 'c']])
  choice.noteSilent('a')
  expect(six()).toBe('cccccc')
  choice.noteSilent('c')
  expect(six()).toBe('aabbcc')
  choice.noteResponsive('b')
  expect(six()).toBe('bbbbbb')
  const alone = openChoice(['a'])
  alone.choice.noteSilent('a')
  expect([alone.six(), alone.choice.next('a')]).toEqual(['aaaaaa', 'a'])
})

test('the choice of a host: a host for which others had to help is doubted, only one at a time and never all', () => {
  const { choice, clock, six } = openChoice(['a', 'b', 'c'])
  choice.noteFasterWithout('a')
  clock.now = 60_000
  choice.noteFasterWithout('a')
  expect(six()).toBe('aabbcc')
  choice.noteFasterWithout('a')
  expect([six(), choice.doubted]).toEqual(['bbbccc', 'a'])
  // Without a suspect, the doubted host is used like any other.
  expect([choice.usable('c'), choice.usable()].map(String)).toEqual(['a,b', 'b,c'])
  choice.noteFasterWithout('b')
  choice.noteFasterWithout('b')
  expect([six(), choice.doubted]).toEqual(['aaaccc', 'b'])
  choice.noteSilent('a')
  choice.noteSilent('c')
  expect([six(), choice.next('b')]).toEqual(['bbbbbb', 'b'])
  choice.noteResponsive('a')
  choice.clearDoubt()
  expect(six()).toBe('aaabbb')
})
