import { isAvailable, type Member, type NodePool } from './pool.ts'

/**
 * The number of ranges that each node is asked for at the same time, by how it keeps up with the other nodes.
 * Only events are counted, so a node is judged by its peers and not by the clock.
 */
export type Shares = {
  /**
   * Chooses the node for a range up to block `upTo`, but none of `without`, and takes one of its places.
   * undefined: no such node has a free place.
   */
  take(upTo: number, without?: ReadonlyMap<Member, unknown>): Member | undefined
  /** A range has arrived from the node, before (`holdPermit`) or after ranges that were requested later. */
  noteArrival(member: Member, inTurn: boolean): void
  /** The request was given up or has failed, so its place is free again. */
  freePlace(member: Member): void
  /** Other ranges have waited for the node, and another node is asked for its range. */
  noteLate(member: Member): void
}

type Share = {
  places: number
  taken: number
  /** Time of its last request, counted in ranges. */
  turn: number
  /** Ranges that other nodes are asked for before this node is asked again. */
  out: number
  /** Number of ranges that it sat out last. */
  wasOut: number
}

/** Number of ranges that a late node with a single place sits out: the first time, and at most. */
const OUT = { first: 8, most: 256 }

/** Shares in which each node has at most `most` places. */
export function createShares(pool: NodePool, now: () => number, most: number): Shares {
  const shares = new Map<Member, Share>()
  const shareOf = (member: Member): Share => {
    const known = shares.get(member)
    if (known !== undefined) return known
    const fresh = { places: most, taken: 0, turn: 0, out: 0, wasOut: 0 }
    shares.set(member, fresh)
    return fresh
  }
  let turn = 0
  const byTaken = (a: Member, b: Member): number =>
    shareOf(a).taken - shareOf(b).taken || shareOf(a).turn - shareOf(b).turn
  const narrow = (share: Share): void => {
    if (share.places === 1) {
      share.wasOut = Math.min(OUT.most, Math.max(OUT.first, 2 * share.wasOut))
      share.out = share.wasOut
    }
    share.places = Math.max(1, share.places >> 1)
  }
  return {
    take: (upTo, without) => {
      const fit = selectFitMembers(pool, upTo, now())
      const inside = fit.filter(member => shareOf(member).out === 0)
      const [chosen] = (inside.length > 0 ? inside : fit)
        .filter(member => shareOf(member).taken < shareOf(member).places && without?.has(member) !== true)
        .toSorted(byTaken)
      if (chosen === undefined) return undefined
      for (const share of shares.values()) share.out = Math.max(0, share.out - 1)
      turn += 1
      shareOf(chosen).turn = turn
      shareOf(chosen).taken += 1
      return chosen
    },
    noteArrival: (member, inTurn) => {
      const share = shareOf(member)
      share.taken -= 1
      if (!inTurn) return
      share.places = Math.min(most, share.places + 1)
      share.wasOut = 0
    },
    freePlace: member => {
      const share = shareOf(member)
      share.taken -= 1
      if (member.backoffUntil > now()) narrow(share)
    },
    noteLate: member => narrow(shareOf(member)),
  }
}

/** The nodes that have the block and answer; if none is known to, those that may: the request will show. */
function selectFitMembers({ members }: NodePool, upTo: number, now: number): readonly Member[] {
  const ours = members.filter(({ foreign, apart }) => foreign === undefined && apart === undefined)
  const awake = ours.filter(member => isAvailable(member, now))
  const high = awake.filter(({ lib }) => lib >= upTo)
  return [high, awake, ours].find(({ length }) => length > 0) ?? members
}
