import type { ServerReport } from '#store/server-report.ts'
import { type DoctorFinding, findingsAbout } from './finding.ts'

const { ok, warning, wrong } = findingsAbout('store')

/** Privileges required for serving; the others are required for loading. */
const FOR_SERVING: readonly string[] = ['read', 'view_index_metadata']

/** Checks the disks, privileges and settings of a store's server. */
export const checkServer = ({
  disks,
  missingPrivileges,
  blocked,
  createsIndices,
}: ServerReport): readonly DoctorFinding[] => [
  ...diskFindings(disks),
  ...rightFindings(missingPrivileges),
  ...(blocked.length === 0
    ? []
    : [
        wrong(
          `Elasticsearch made ${blocked.length} indices read-only, such as ${blocked[0]}: a disk was full`,
          'Make room; Elasticsearch lifts the block by itself below its high watermark.',
        ),
      ]),
  ...(createsIndices === true
    ? [
        warning(
          'Elasticsearch creates missing indices on write',
          'A lost index could come back empty: set action.auto_create_index to false in the cluster settings.',
        ),
      ]
    : []),
]

const diskFindings = (disks: ServerReport['disks']): readonly DoctorFinding[] =>
  disks === undefined
    ? [
        warning(
          'The disks of Elasticsearch are unknown: the user lacks the privilege to read them',
          "Give the user the cluster privilege 'monitor', or watch them elsewhere: GET _cat/allocation.",
        ),
      ]
    : disks.map(({ server, freeBytes, totalBytes, leastBytes }) => {
        const what = `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free on the disk of ${server}`
        return freeBytes < leastBytes
          ? warning(
              `${what}, less than the low watermark of ${gigabytes(leastBytes)}`,
              'Elasticsearch places no new indices there, and soon refuses writes: make room or add a server.',
            )
          : ok(what)
      })

function rightFindings(lacks: ServerReport['missingPrivileges']): readonly DoctorFinding[] {
  if (lacks === undefined) return [ok('Elasticsearch checks no privileges, or does not report them')]
  if (lacks.length === 0) return [ok('The user of Elasticsearch may read and write the indices')]
  const what = `The user of Elasticsearch lacks on the indices: ${lacks.join(', ')}`
  return [
    lacks.some(privilege => FOR_SERVING.includes(privilege))
      ? wrong(what, 'Give it the role iostlens_service of indices/roles.yml, or iostlens_loader to load.')
      : warning(what, "It may serve; 'iostlens load' and 'up' need the role iostlens_loader of indices/roles.yml."),
  ]
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`
