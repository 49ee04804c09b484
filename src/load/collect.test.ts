import { expect, test } from 'bun:test'
import { collector } from './collect.ts'

const MB = 1_000_000

/** Memory that grows by `grows` before each call, and that a collection reduces to `lives`. */
function simulated(lives: number, grows: number) {
  let resident = 0
  let collections = 0
  const collect = collector({
    resident: () => resident,
    collect: () => {
      resident = Math.min(resident, lives)
      collections++
    },
  })
  return (calls: number) => {
    let most = 0
    for (let call = 0; call < calls; call++) {
      resident += grows
      collect(1_000)
      most = Math.max(most, resident)
    }
    return { most: most / MB, collections }
  }
}

test('collector: memory is measured once per thousand documents', () => {
  let looks = 0
  const collect = collector({ resident: () => looks++, collect: () => undefined })
  for (let document = 0; document < 5_500; document++) collect(1)
  expect(looks).toBe(5)
})

test('collector: a small process is not collected', () => {
  expect(simulated(0, MB)(190)).toEqual({ most: 190, collections: 0 })
})

test('collector: garbage is bounded at any rate', () => {
  const { most, collections } = simulated(100 * MB, MB)(100_000)
  expect(most).toBeLessThan(250)
  expect(collections).toBeGreaterThan(500)
})

test('collector: a mostly live heap is not collected each time', () => {
  const { collections } = simulated(1_000 * MB, MB)(1_000)
  expect(collections).toBeLessThan(30)
})
