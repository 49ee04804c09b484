/**
 * The last height for which `holds`, where it holds for all below; −1: for none. `top`: the last one to be looked at;
 * undefined: as far as it goes. Looks at the end first, then at ever larger steps before it, then halves: an end that is
 * near costs little.
 */
export const lastWhere = async (
  top: number | undefined,
  holds: (height: number) => Promise<boolean>,
): Promise<number> => {
  const [from, until] = top === undefined ? await firstSteps(holds) : await lastSteps(top, holds)
  let [good, bad] = [from, until]
  while (bad - good > 1) {
    const middle: number = good + Math.floor((bad - good) / 2)
    if (await holds(middle)) good = middle
    else bad = middle
  }
  return good
}

type Looks = (height: number) => Promise<boolean>
/** One for which it holds, or −1, and a later one for which it does not. */
type Bounds = readonly [good: number, bad: number]

const firstSteps = async (holds: Looks): Promise<Bounds> => {
  let good = -1
  for (let step = 1; ; step *= 2) {
    if (!(await holds(good + step))) return [good, good + step]
    good += step
  }
}

const lastSteps = async (top: number, holds: Looks): Promise<Bounds> => {
  let bad = top + 1
  for (let step = 1; bad - step >= 0; step *= 2) {
    if (await holds(bad - step)) return [bad - step, bad]
    bad -= step
  }
  return [-1, bad]
}
