import { archiveCheck } from './archive/check.ts'
import { archiveWrite } from './archive/write.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor/doctor.ts'
import { health } from './health.ts'
import { config } from './help.ts'
import { indicesCheck, indicesCreate, indicesMerge, indicesMigrate, indicesPrint, indicesRollback } from './indices.ts'
import { keysAdd, keysChange, keysExport, keysImport, keysList, keysRevoke, keysRotate, keysShow } from './keys.ts'
import { load } from './load.ts'
import { repair, verify } from './repair.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { backup, copy, restore } from './transfer.ts'
import { up } from './up.ts'

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
