import { readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { type DoctorFinding, findingsAbout } from './finding.ts'

const { ok, warning } = findingsAbout('machine')

/** Minimum number of open files: one connection per client, and those to the store and the node. */
const LEAST_FILES = 4_096
/** Minimum memory in bytes: a load of a busy chain, with room for a service. */
const LEAST_MEMORY = 1_000_000_000

/** Limits of the machine for the process; undefined: unknown. */
export type Machine = {
  readonly openFiles: number | undefined
  /** Total memory; both in bytes. */
  readonly memory: number
  readonly freeMemory: number
}

export function thisMachine(): Machine {
  const memory = Math.min(totalmem(), limitOfGroup() ?? Number.POSITIVE_INFINITY)
  return { openFiles: fileLimit(), memory, freeMemory: Math.min(memory, available() ?? freemem()) }
}

export const checkMachine = ({ openFiles, memory, freeMemory }: Machine): readonly DoctorFinding[] => [
  ...(openFiles === undefined
    ? []
    : [
        openFiles < LEAST_FILES
          ? warning(
              `The process may open ${openFiles} files`,
              `Each client takes one: 'ulimit -n 65536', or LimitNOFILE=65536 in the systemd unit.`,
            )
          : ok(`The process may open ${openFiles} files`),
      ]),
  freeMemory < LEAST_MEMORY
    ? warning(
        `${megabytes(freeMemory)} of ${megabytes(memory)} memory are free`,
        "A load and a service together take up to 1 GB: 'free -m' shows how the rest is used.",
      )
    : ok(`${megabytes(freeMemory)} of ${megabytes(memory)} memory are free`),
]

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`

/** The content of a file of Linux; undefined on other systems. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function matchNumber(text: string | undefined, pattern: RegExp): number | undefined {
  const found = text === undefined ? undefined : pattern.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

const fileLimit = (): number | undefined => matchNumber(read('/proc/self/limits'), /^Max open files +(\d+)/m)

function available(): number | undefined {
  const kilobytes = matchNumber(read('/proc/meminfo'), /^MemAvailable: +(\d+) kB/m)
  return kilobytes === undefined ? undefined : kilobytes * 1_024
}

/** Memory limit of the container. */
const limitOfGroup = (): number | undefined => matchNumber(read('/sys/fs/cgroup/memory.max'), /^(\d+)$/m)
