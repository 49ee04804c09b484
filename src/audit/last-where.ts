/**
 * The last height for which `holds` is true, given that it is then true for all heights below; −1: none.
 * `top` is the last height to check; undefined: no limit. Checks the end first, then steps back in growing
 * steps, then bisects, so that a result near the end costs little.
 */
export async function lastWhere(top: number | undefined, holds: (height: number) => Promise<boolean>): Promise<number> {
  const [from, until] = top === undefined ? await firstSteps(holds) : await lastSteps(top, holds)
  let [good, bad] = [from, until]
  while (bad - good > 1) {
    const middle: number = good + Math.floor((bad - good) / 2)
    if (await holds(middle)) good = middle
    else bad = middle
  }
  return good
}

type Holds = (height: number) => Promise<boolean>
/** A height for which `holds` is true, or −1, and a later one for which it is false. */
type Bounds = readonly [good: number, bad: number]

async function firstSteps(holds: Holds): Promise<Bounds> {
  let good = -1
  for (let step = 1; ; step *= 2) {
    if (!(await holds(good + step))) return [good, good + step]
    good += step
  }
}

async function lastSteps(top: number, holds: Holds): Promise<Bounds> {
  let bad = top + 1
  for (let step = 1; bad - step >= 0; step *= 2) {
    if (await holds(bad - step)) return [bad - step, bad]
    bad -= step
  }
  return [-1, bad]
}
