/** 32-bit mixing of small integers. Through it everything on the chain is a pure function of numbers. */
function fmix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Uniform in 0 … 2^32 − 1, computed from the four numbers, each below 2^53. */
export function mix(seed: number, stream: number, a: number, b = 0): number {
  let h = fmix(seed ^ Math.imul(stream, 0x9e3779b1))
  h = fmix(h ^ Math.imul(a >>> 0, 0xcc9e2d51) ^ Math.floor(a / 4294967296))
  return fmix(h ^ Math.imul(b >>> 0, 0x1b873593) ^ Math.imul(Math.floor(b / 4294967296), 0x2545f491))
}

/** 32 random bytes of a number, for keys. */
export const drawBytes = (seed: number, stream: number, index: number): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, at) => mix(seed, stream, index, at) & 255)

/** A sequence of random numbers that every `start` restarts. One object is reused, so nothing is allocated. */
export function createDraws() {
  let state = 0
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    return fmix(state)
  }
  const unit = (): number => next() / 4294967296
  return {
    start: (seed: number, stream: number, a: number, b = 0): void => {
      state = mix(seed, stream, a, b)
    },
    next,
    /** 0 ≤ x < 1. */
    unit,
    /** 0 … n − 1. */
    below: (n: number): number => Math.floor(unit() * n),
    /** 0 … n − 1, where r has a probability near 1 ÷ (r + 1): few values are frequent, most are rare. */
    zipf: (n: number): number => Math.min(n - 1, Math.floor(Math.exp(unit() * Math.log(n + 1))) - 1),
  }
}
