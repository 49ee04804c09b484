/** Disks, privileges and settings that a store's server reports. undefined: the user may not read them. */
export type ServerReport = {
  readonly disks: readonly Disk[] | undefined
  /** Privileges for loading that the user lacks; undefined: the server checks none. */
  readonly missingPrivileges: readonly string[] | undefined
  /** Indices that the server made read-only when a disk was full. */
  readonly blocked: readonly string[]
  /** Whether a write to a missing index creates the index. */
  readonly createsIndices: boolean | undefined
}

/** Room on a disk that has a store's data. */
export type DiskRoom = {
  /** The server, or the folder of an embedded store. */
  readonly server: string
  readonly freeBytes: number
  readonly totalBytes: number
}

/** The disk of one server. */
export type Disk = DiskRoom & {
  /** With less free space than this, the server gets no more data. */
  readonly leastBytes: number
}
