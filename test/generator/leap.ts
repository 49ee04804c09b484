import { newcomerName } from './names.ts'
import { addBlocks, addTo, emptyTally, release, TABLES, type Table, type Tally } from './tally.ts'
import { blockTime } from './time.ts'
import type { World } from './world.ts'

/** The name alone, or before the token of a list. */
const NEWCOMER = /^n0_([0-9a-z]+)(\/.*)?$/

/** The name of a newcomer of the first cycle in another cycle; undefined: the name is not a newcomer's. */
function inCycle(name: string): ((cycle: number) => string) | undefined {
  const [, k, rest = ''] = NEWCOMER.exec(name) ?? []
  return k === undefined ? undefined : cycle => newcomerName(cycle, Number.parseInt(k, 36)) + rest
}

/** Adds the gains of the first cycle `cycles` times. Every cycle has newcomers of its own. */
function grow(table: Table, gained: Table, cycles: number): void {
  for (const [group, names] of gained)
    for (const [name, gain] of names) {
      const nameIn = inCycle(name)
      if (nameIn === undefined) {
        if (gain !== 0n) addTo(table, group, name, gain * BigInt(cycles))
      } else for (let cycle = 0; cycle < cycles; cycle += 1) addTo(table, group, nameIn(cycle), gain)
    }
}

function through(world: World, tally: Tally, from: number, to: number): void {
  addBlocks(world, tally, from, to)
  release(tally, BigInt(blockTime(world.settings.seed, to)))
}

/**
 * The tally after block `height`. Blocks before the cycles, of the first cycle and of the cycle of `height` are added
 * one by one. Each cycle between gains the same as the first one, which is how the chain is made (`cycle-plan.ts`).
 */
export function tallyAt(world: World, height: number): Tally {
  const { dawn, settings } = world
  const tally = emptyTally()
  through(world, tally, 0, Math.min(height, dawn - 1))
  if (height < dawn) return tally
  const cycles = Math.floor((height + 1 - dawn) / settings.cycle)
  if (cycles > 0) {
    const gained: Tally = { ...emptyTally(), deployed: tally.deployed }
    through(world, gained, dawn, dawn + settings.cycle - 1)
    for (const name of TABLES) grow(tally.tables[name], gained.tables[name], cycles)
    for (const owner of gained.owners)
      for (let cycle = 0; cycle < cycles; cycle += 1) tally.owners.add(inCycle(owner)?.(cycle) ?? owner)
  }
  const from = dawn + cycles * settings.cycle
  if (from <= height) through(world, tally, from, height)
  return tally
}

/** The same tally, computed from every block, or from those after `from` on a tally. `tallyAt` must equal it. */
export function tallyStepByStep(world: World, height: number, tally = emptyTally(), from = -1): Tally {
  through(world, tally, from + 1, height)
  return tally
}
