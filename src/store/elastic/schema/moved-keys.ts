import type { IndexState } from './index-states.ts'
import type { Names } from './names.ts'

/**
 * The generation of the served index of API keys, if a migration of an earlier version moved them there but
 * recorded the previous generation. undefined: the keys are in the recorded generation. `states`: indices
 * behind the alias of the keys.
 */
export const movedKeys = (names: Names, states: ReadonlyMap<string, IndexState>): number | undefined => {
  const { keys: recorded = 0 } = names.generations
  const moved = [...states].flatMap(([name, { aliases }]) => {
    const generation = Number(/-keys-(\d+)$/.exec(name)?.[1] ?? recorded)
    const there = names.at({ ...names.generations, keys: generation })
    // Only a migration gives an index the alias of its generation.
    const isServed = [there.keys, there.own('keys')].every(alias => aliases.has(alias))
    return generation > recorded && name === there.behind('keys') && isServed ? [generation] : []
  })
  return moved.length === 0 ? undefined : Math.max(...moved)
}
