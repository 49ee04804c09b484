/** A random integer from 0 up to, but not including, the bound. */
export const below = (random: () => number, bound: number): number => Math.floor(random() * bound)

export const pick = <T>(random: () => number, from: readonly T[]): T => from[below(random, from.length)] as T
