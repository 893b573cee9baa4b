import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatFinding } from '../../../src/domain/core/finding.ts';
import { loadSpecs } from '../../../src/domain/core/spec-file.ts';
import { releaseSpec } from '../../../src/domain/release/spec.ts';

const folder = new URL('./malformed/', import.meta.url);

/** What each file is refused with: line, column, path and message of every finding. */
const refusals: Record<string, string[]> = {
  'a-list.yaml': ['1:1: (document): expected a document with apiVersion, kind, metadata and spec, got a list'],
  'a-text.yaml': ['1:1: (document): expected a document with apiVersion, kind, metadata and spec, got "Release web"'],
  'anchor-and-alias.yaml': [
    '8:5: spec.track: anchors (&line) are not supported; write the value out where it is used',
    '13:14: spec.targets[0].track: aliases (*line) are not supported; write the value out',
  ],
  'approver-key.yaml': [
    '11:12: spec.approvers[0].key: the key is cut off, or something stands after its end',
    '13:12: spec.approvers[1].key: expected a key of type ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa, got "AAAAC3NzaC1lZDI1NTE5"',
  ],
  'blank-spec.yaml': ['5:1: spec: expected a map, got nothing: give a value or remove the line'],
  'boolean-in-quotes.yaml': ['13:12: spec.suspend: expected true or false, got "true": write true without quotes'],
  'boolean-of-yaml-1-1.yaml': ['13:12: spec.suspend: expected true or false, got "yes": write true'],
  'broken-regular-expression.yaml': [
    '8:11: spec.track.line: expected a regular expression over tags, such as ^v5\\., got "^v(6"',
  ],
  'colon-in-text.yaml': [
    '13:13: spec.targets[0].name: this is not valid YAML: a field inside a value; check the indentation, and put a text with ": " in quotes',
  ],
  'control-character.yaml': ['6:31: (file): expected text, got the control character U+0007'],
  'directive.yaml': [
    '1:1: (document): directives (%YAML 1.1) are not supported; remove the line',
    '15:12: spec.suspend: expected true or false, got "yes": write true',
  ],
  'duplicate-field.yaml': ['9:3: spec.image: duplicate field "image"; keep one of the two'],
  'duplicate-nested-field.yaml': ['13:7: spec.targets[0].container: duplicate field "container"; keep one of the two'],
  'duration-as-text-without-unit.yaml': [
    '13:9: spec.soak: expected a duration such as 90s or 1m30s, got "90": missing unit (h, m, s, ms, us or ns)',
  ],
  'duration-in-days.yaml': [
    '13:13: spec.cooldown: expected a duration such as 90s or 1m30s, got "1d": unknown unit "d"; there are no days; write 24h',
  ],
  'duration-too-short.yaml': ['13:17: spec.pollInterval: expected a duration of at least 1s, got "10ms"'],
  'duration-without-unit.yaml': [
    '13:9: spec.soak: expected a duration such as 90s or 1m30s, got the number 10: missing unit (h, m, s, ms, us or ns)',
  ],
  'empty.yaml': ['1:1: (file): expected a document with apiVersion, kind, metadata and spec, got an empty file'],
  'field-in-wrong-case.yaml': ['13:3: spec.pollinterval: unknown field "pollinterval"; did you mean "pollInterval"?'],
  'field-one-level-too-high.yaml': [
    '13:1: container: unknown field "container"; known fields: apiVersion, kind, metadata, spec',
  ],
  'fraction-for-whole-number.yaml': ['13:19: spec.minimumSamples: expected a whole number, got the number 1.5'],
  'freeze-without-offset.yaml': [
    '14:13: spec.freeze[0].from: expected an instant with its offset, such as 2026-12-20T00:00:00+01:00, got "2026-12-20T00:00:00"',
  ],
  'health-as-number.yaml': ['13:15: spec.targets[0].health: expected "none" or a map, got the number 200'],
  'health-misspelt-inside.yaml': [
    '15:11: spec.targets[0].health.http.prot: unknown field "prot"; did you mean "port"?',
  ],
  'health-of-no-form.yaml': ['14:9: spec.targets[0].health.htttp: unknown field "htttp"; did you mean "http"?'],
  'health-of-two-forms.yaml': ['13:7: spec.targets[0].health: expected only one of exec, url'],
  'hub-without-url.yaml': ['10:7: spec.targets[0].healthURL: a hub needs healthURL (or health)'],
  'health-url-with-password.yaml': [
    '14:18: spec.targets[0].healthURL: give a URL without user and password: whoever may read the spec reads them',
  ],
  'image-with-tag.yaml': [
    '6:10: spec.image: expected an image repository without tag or digest, such as registry.example.com/team/app, got "registry.example.com/team/web:v6-latest"',
  ],
  'indentation.yaml': [
    '6:10: spec.image: this is not valid YAML: a field inside a value; check the indentation, and put a text with ": " in quotes',
  ],
  'json-cut-off.json': ['6:1: spec: this is not valid YAML: a } is missing before this'],
  'json-extra-brace.json': [
    '1:100: (document): this is not valid YAML: Unexpected flow-map-end token in YAML stream: "}"',
  ],
  'json-with-typo.json': ['8:58: spec.targets[0].contianer: unknown field "contianer"; did you mean "container"?'],
  'list-expected.yaml': ['9:3: spec.targets: expected a list, got a map: begin each item with a dash'],
  'many-findings.yaml': [
    '1:13: apiVersion: expected "holdfast.dev/v1alpha1", got "holdfast.dev/v1"',
    '4:9: metadata.name: expected a name of at most 63 lower-case letters, digits and -, which begins and ends with a letter or digit, got "Web"',
    '5:3: metadata.labels: unknown field "labels"; known fields: name',
    '7:3: spec.imgae: unknown field "imgae"; did you mean "image"?',
    '8:9: spec.mode: expected one of Observe, Shadow, Enforce, got "Force"',
    '9:9: spec.soak: expected a duration such as 90s or 1m30s, got the number 10: missing unit (h, m, s, ms, us or ns)',
    '10:12: spec.suspend: expected true or false, got "on": write true',
    '13:19: spec.targets[0].deployment: expected a string, got the number 7: put it in quotes, "7"',
    '17:13: spec.targets[1].soak: expected a duration such as 90s or 1m30s, got "1 hour": unknown unit " hour"; units are h, m, s, ms, us and ns',
  ],
  'merge-key.yaml': ['10:7: spec.targets[0]["<<"]: merge keys (<<) are not supported; write the fields out'],
  'missing-api-version.yaml': ['1:1: apiVersion: required field is missing; expected "holdfast.dev/v1alpha1"'],
  'missing-kind.yaml': ['1:1: kind: required field is missing; expected "Release"'],
  'missing-metadata.yaml': ['1:1: metadata: required field is missing; expected a map'],
  'missing-spec-of-misspelt-kind.yaml': [
    '1:1: spec: required field is missing; expected a map',
    '2:7: kind: expected "Release", got "Relase": did you mean Release?',
  ],
  'missing-spec.yaml': ['1:1: spec: required field is missing; expected a map'],
  'misspelt-field.yaml': ['6:3: spec.imgae: unknown field "imgae"; did you mean "image"?'],
  'misspelt-kind.yaml': ['2:7: kind: expected "Release", got "Relase": did you mean Release?'],
  'misspelt-nested-field.yaml': [
    '11:7: spec.targets[0].deploymnet: unknown field "deploymnet"; did you mean "deployment"?',
  ],
  'misspelt-spec.yaml': ['5:1: spce: unknown field "spce"; did you mean "spec"?'],
  'mode-in-lower-case.yaml': [
    '13:9: spec.mode: expected one of Observe, Shadow, Enforce, got "enforce": did you mean Enforce?',
  ],
  'name-in-capitals.yaml': [
    '4:9: metadata.name: expected a name of at most 63 lower-case letters, digits and -, which begins and ends with a letter or digit, got "Web_Shop"',
  ],
  'name-is-a-number.yaml': ['4:9: metadata.name: expected a string, got the number 2024: put it in quotes, "2024"'],
  'name-too-long.yaml': [
    '4:9: metadata.name: expected a name of at most 63 lower-case letters, digits and -, which begins and ends with a letter or digit, got "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww…"',
  ],
  'namespace-in-metadata.yaml': ['5:3: metadata.namespace: unknown field "namespace"; known fields: name'],
  'negative-duration.yaml': [
    '13:19: spec.rolloutTimeout: expected a duration such as 90s or 1m30s, got "-5m": it must not be negative',
  ],
  'no-targets.yaml': ['9:3: spec.targets: expected at least 1 item, got an empty list'],
  'non-utf8.yaml': ['6:8: (file): expected UTF-8, got the byte 0xe9; save the file as UTF-8'],
  'null-document.yaml': [
    '2:1: (document): expected a document with apiVersion, kind, metadata and spec, got nothing: give a value or remove the line',
  ],
  'null-value.yaml': ['13:3: spec.onFailure: expected one of stop, undo, got nothing: give a value or remove the line'],
  'number-as-field-name.yaml': ['13:3: spec: expected the name of a field, got the number 1: put it in quotes'],
  'number-in-quotes.yaml': ['13:19: spec.minimumSamples: expected a number, got "3": write 3 without quotes'],
  'only-comments.yaml': [
    '1:1: (file): expected a document with apiVersion, kind, metadata and spec, got nothing but comments',
  ],
  'port-out-of-range.yaml': [
    '15:17: spec.targets[0].health.http.port: expected a number of at most 65535, got the number 70000',
  ],
  'prototype.yaml': ['13:3: spec.__proto__: unknown field "__proto__"'],
  'reserved-character.yaml': [
    '6:10: spec.image: this is not valid YAML: Plain value cannot start with reserved character @',
  ],
  'same-name-twice.yaml': [
    '17:9: metadata.name: Release/web is already defined at same-name-twice.yaml:4:9; give one of the two another name',
  ],
  'same-target-twice.yaml': [
    '13:7: spec.targets[1].name: target "web" is already the name of targets[0]; give one of them a name of its own',
    '13:7: spec.targets[1]: default/shop/Deployment/web is already targets[0]; a workload is the target of one entry',
  ],
  'second-of-two-documents.yaml': ['19:3: spec.imaeg: unknown field "imaeg"; did you mean "image"?'],
  'tab-in-list.yaml': ['11:1: spec.targets[0].namespace: a tab is used for indentation; YAML wants spaces'],
  'tab-indentation.yaml': ['6:1: (document): a tab is used for indentation; YAML wants spaces'],
  'tag-and-line.yaml': ['7:3: spec.track: expected either tag or line'],
  'tag.yaml': ['13:14: spec.pin: tags (!!str) are not supported; write the value plainly, a text in quotes'],
  'text-instead-of-map.yaml': ['7:10: spec.track: expected a map, got "v6-latest"'],
  'two-workloads.yaml': ['10:7: spec.targets[0]: expected exactly one of deployment, statefulSet, daemonSet'],
  'unclosed-bracket.yaml': ['10:3: spec.blocklist[1]: this is not valid YAML: a ] is missing before this'],
  'unclosed-quote.yaml': ['6:10: spec.image: this is not valid YAML: the quote that begins here is never closed'],
  'unknown-fields.yaml': [
    '13:3: spec.replicas: unknown field "replicas"; the schema of the kind lists the fields',
    '14:3: spec.strategy: unknown field "strategy"; the schema of the kind lists the fields',
  ],
  'utf16.yaml': ['1:1: (file): expected UTF-8, got UTF-16; save the file as UTF-8'],
  'version-as-number.yaml': ['13:8: spec.pin: expected a string, got the number 1.10: put it in quotes, "1.10"'],
  'wave-of-110-percent.yaml': [
    '13:14: spec.waves[1]: expected a number of targets or a percentage such as 25%, got "110%"',
  ],
  'wave-of-zero.yaml': ['13:11: spec.waves[0]: expected a number of at least 1, got the number 0'],
  'window-of-unknown-zone.yaml': [
    '14:46: spec.windows[0].timeZone: expected a time zone of the IANA list, such as Europe/Berlin or UTC, got "Mars/Olympus"',
    '14:67: spec.windows[0].days[0]: expected one of Mon, Tue, Wed, Thu, Fri, Sat, Sun, got "Monday"',
  ],
  'window-without-zone.yaml': ['14:7: spec.windows[0].timeZone: required field is missing; expected a string'],
  'windows-line-endings.yaml': ['6:3: spec.imgae: unknown field "imgae"; did you mean "image"?'],
  'wrong-api-version.yaml': ['1:13: apiVersion: expected "holdfast.dev/v1alpha1", got "holdfast.dev/v1"'],
  'wrong-kind.yaml': ['2:7: kind: expected "Release", got "Deployment"'],
};

/** The lines of the documents beside the malformed ones that are as they should be. */
const goodDocuments: Record<string, number[]> = {
  'null-document.yaml': [4],
  'same-name-twice.yaml': [1],
  'second-of-two-documents.yaml': [1],
};

describe('a malformed Release is refused with file, line, column, path and what was expected', () => {
  test.each(Object.entries(refusals))('%s', (file, expected) => {
    const { specs, findings } = loadSpecs([{ path: file, bytes: readFileSync(new URL(file, folder)) }], {
      Release: releaseSpec,
    });
    expect(findings.map(formatFinding)).toEqual(expected.map((finding) => `${file}:${finding}`));
    // Of two documents in a file, the good one is still there for whoever wants it.
    expect(specs.map((spec) => spec.line)).toEqual(goodDocuments[file] ?? []);
  });

  test('every file of the folder has its test', () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(refusals).sort());
  });

  test('no message shows a stack trace or what a library calls things', () => {
    for (const message of Object.values(refusals).flat()) {
      expect(message).not.toMatch(/\n| at .*\(|zod|Invalid input|undefined|\[object/i);
      expect(message).toMatch(/^\d+:\d+: \S+: /);
    }
  });
});
