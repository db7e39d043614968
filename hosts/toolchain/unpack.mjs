// Unpacks the toolchain that `npm ci` has put beside this file, into node_modules/.toolchain. Nothing of the system's is needed:
// a machine with Node and npm need not have xz.
import { readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const { xz } = require('@napi-rs/lzma')
const { Archive } = require('@napi-rs/tar')
const { toolchainPath: packed } = require('@napi-rs/cross-toolchain-x64-target-x86_64')

const to = fileURLToPath(new URL('node_modules/.toolchain', import.meta.url))
rmSync(to, { recursive: true, force: true })
new Archive(xz.decompressSync(readFileSync(packed))).unpack(to)
// npm brings it again when it is needed again.
rmSync(packed)
