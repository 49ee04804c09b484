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

test('hostHealth: the delay of the last round does not silence a host that answers the next one', async () => {
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

test('hostHealth: a successful trial does not clear a host that is doubted by then', async () => {
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
