import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { DiskRoom } from './maintain-port.ts'

/**
 * Creates an empty file if there is none, readable by its owner only. A file that root creates gets the owner of its
 * folder: otherwise a command of root would leave a file that the service cannot open. Throws the system's error.
 */
export function createFile(path: string): void {
  let handle: number
  try {
    // Files have hashes, names and notes of API keys.
    handle = openSync(path, 'wx', 0o600)
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return
    throw error
  }
  try {
    const owner = findOwnerToGive(dirname(path))
    if (owner !== undefined) fchownSync(handle, owner.uid, owner.gid)
  } finally {
    closeSync(handle)
  }
}

/** Creates a folder and the folders above it if there are none, with the same rights and owners as `createFile`. */
export function createFolder(path: string): void {
  const whole = resolve(path)
  const first = mkdirSync(whole, { recursive: true, mode: 0o700 })
  const owner = first === undefined ? undefined : findOwnerToGive(dirname(first))
  if (first === undefined || owner === undefined) return
  const made = relative(first, whole).split(sep).filter(Boolean)
  for (let count = 0; count <= made.length; count++)
    lchownSync(join(first, ...made.slice(0, count)), owner.uid, owner.gid)
}

/** Gives a new folder the owner that `createFolder` would give it. */
export function giveToFolder(path: string): void {
  const owner = findOwnerToGive(dirname(resolve(path)))
  if (owner !== undefined) lchownSync(path, owner.uid, owner.gid)
}

/** The owner of a folder, for what root creates in it; undefined: the process is not root, or the folder is root's. */
function findOwnerToGive(folder: string): { readonly uid: number; readonly gid: number } | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const { uid, gid } = statSync(folder)
  return uid === 0 ? undefined : { uid, gid }
}

/**
 * The reason why this process may not use a file, and the remedy, without a final full stop: the first of the file, its
 * companions and its folder to which it has no access. undefined: it has access to all of them that exist.
 */
export function describeRefusal(path: string, companions: readonly string[] = []): string | undefined {
  let folder = dirname(resolve(path))
  while (findStats(folder) === undefined && folder !== dirname(folder)) folder = dirname(folder)
  for (const each of [path, ...companions]) {
    const refusal = describeAccess(each, constants.R_OK | constants.W_OK, 'rw')
    if (refusal !== undefined) return refusal
  }
  return describeAccess(folder, constants.R_OK | constants.W_OK | constants.X_OK, 'rwx')
}

function describeAccess(path: string, access: number, rights: string): string | undefined {
  const found = findStats(path)
  const code = found === undefined ? undefined : findRefusal(path, access)
  if (found === undefined || code === undefined) return undefined
  if (code === 'EROFS') return `${path} is on a file system that is mounted read-only`
  const uid = process.geteuid?.() ?? 0
  const [owner, user] = [nameUser(found.uid), nameUser(uid)]
  const mode = (found.mode & 0o777).toString(8)
  return found.uid === uid
    ? `${path} belongs to this user, ${user}, but its mode is ${mode}: run chmod u+${rights} ${path}`
    : `${path} belongs to ${owner} (mode ${mode}), and this process runs as ${user}: run chown ${user} ${path}`
}

/** The system's code for the refusal of an access; undefined: it is not refused. */
function findRefusal(path: string, access: number): unknown {
  try {
    accessSync(path, access)
    return undefined
  } catch (error) {
    return getErrorCode(error)
  }
}

function findStats(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The name of a user, or its number if the machine's list of users lacks it, as for a user of systemd's own. */
function nameUser(uid: number): string {
  let users = ''
  try {
    users = readFileSync('/etc/passwd', 'utf8')
  } catch {
    // The number will do.
  }
  const line = users.split('\n').find(each => each.split(':')[2] === String(uid))
  return line?.split(':', 1)[0] ?? String(uid)
}

const getErrorCode = (error: unknown): unknown =>
  error instanceof Error ? (error as { code?: unknown }).code : undefined

/** The room on the disk of a folder, which need not exist yet. */
export function readDisk(folder: string): DiskRoom {
  let existing = folder
  while (!existsSync(existing)) existing = dirname(existing)
  const { bavail, blocks, bsize } = statfsSync(existing)
  return { server: existing, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
