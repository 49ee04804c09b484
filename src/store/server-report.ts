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

/** The disk of one server. */
export type Disk = {
  readonly server: string
  readonly freeBytes: number
  readonly totalBytes: number
  /** With less free space than this, the server gets no more data. */
  readonly leastBytes: number
}
