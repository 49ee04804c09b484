import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DiskRoom } from './server-report.ts'

/** The room on the disk of a folder, which need not exist yet. */
export function readDisk(folder: string): DiskRoom {
  let existing = folder
  while (!existsSync(existing)) existing = dirname(existing)
  const { bavail, blocks, bsize } = statfsSync(existing)
  return { server: existing, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
