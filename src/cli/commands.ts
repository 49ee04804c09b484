import { archiveCheck } from './archive/archive-check.ts'
import { archiveWrite } from './archive/archive-write.ts'
import { backup } from './backup.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { copy } from './copy.ts'
import { doctor } from './doctor/doctor.ts'
import { health } from './health.ts'
import { indicesCheck, indicesCreate, indicesMerge, indicesPrint } from './indices.ts'
import { indicesMigrate, indicesRollback } from './indices-migrate.ts'
import { keysAdd, keysList, keysRevoke } from './keys.ts'
import { keysChange, keysRotate, keysShow } from './keys-change.ts'
import { keysExport, keysImport } from './keys-transfer.ts'
import { load } from './load.ts'
import { repair } from './repair.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { up } from './up.ts'
import { verify } from './verify.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  up,
  load,
  serve,
  keysAdd,
  keysList,
  keysShow,
  keysChange,
  keysRotate,
  keysRevoke,
  keysExport,
  keysImport,
  indicesCreate,
  indicesCheck,
  indicesPrint,
  indicesMerge,
  indicesMigrate,
  indicesRollback,
  archiveWrite,
  archiveCheck,
  backup,
  restore,
  copy,
  status,
  verify,
  repair,
  health,
  doctor,
  config,
]
