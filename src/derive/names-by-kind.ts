/**
 * Values by names, in a map for each kind of thing and each `within`: what else the things are named by, of which
 * there are few (the token of a balance), or ''. A block names most things many times: finding one by its names takes
 * a fraction of the time of building its key and finding that.
 */
export const namesByKind = <Kind extends string, V>(): ((kind: Kind, within: string) => Map<string, V>) => {
  const kinds = new Map<Kind, Map<string, Map<string, V>>>()
  return (kind, within) => {
    let ofKind = kinds.get(kind)
    if (ofKind === undefined) {
      ofKind = new Map()
      kinds.set(kind, ofKind)
    }
    let names = ofKind.get(within)
    if (names === undefined) {
      names = new Map()
      ofKind.set(within, names)
    }
    return names
  }
}
