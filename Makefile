# The commands for developing and installing keymoded. `make help` lists them.

PREFIX  ?= /usr/local
DESTDIR ?=

bindir      = $(PREFIX)/bin
libexecdir  = $(PREFIX)/libexec/keymoded
unitdir     = $(PREFIX)/lib/systemd/system
userunitdir = $(PREFIX)/lib/systemd/user
sysusersdir = $(PREFIX)/lib/sysusers.d
rulesdir    = $(PREFIX)/lib/udev/rules.d
mandir      = $(PREFIX)/share/man
recipedir   = $(PREFIX)/share/keymoded/recipes
sounddir    = $(PREFIX)/share/keymoded/sounds
bashdir     = $(PREFIX)/share/bash-completion/completions
fishdir     = $(PREFIX)/share/fish/vendor_completions.d
# The daemon reads its configuration from this directory, whatever the prefix.
confdir     = /etc/keymoded
# Debian's zsh searches these directories: one for packages, one for local installations.
zshdir      = $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

SWIFT ?= swift
# The programs link the Swift runtime statically, so that they run on machines without Swift, and
# also libstdc++, which takes less memory than the shared library. The linker picks libstdc++.a
# because the first search directory has nothing else. The other options make the programs smaller
# and the start faster; docs/performance.md has the figures.
CXX_RUNTIME = .build/c++
RELEASE = -c release --static-swift-stdlib -Xswiftc -use-ld=lld -Xswiftc -L$(CXX_RUNTIME) \
  $(addprefix -Xswiftc ,-Xclang-linker -static-libgcc) \
  $(addprefix -Xlinker ,--no-export-dynamic -z pack-relative-relocs)
# What Debian's hardening gives to C programs; position-independent code and relro are defaults.
RELEASE += $(addprefix -Xlinker ,-z now) $(addprefix -Xswiftc ,-Xfrontend -enable-stack-protector)
# The same sources give the same bytes in every folder, debugging information included: no path of
# the folder is in the programs. Incremental code generation would add a hash of the compiler's
# options, in .swift_modhash, and breadcrumbs the path of each compiled C module.
RELEASE += $(addprefix -Xswiftc -Xfrontend -Xswiftc , \
  -disable-incremental-llvm-codegen -no-clang-module-breadcrumbs) \
  -Xswiftc -file-prefix-map -Xswiftc '$(CURDIR)=.'
# The functions that a key runs are next to each other, in few pages, and so are the variables that the daemon writes;
# `make order` lists them.
RELEASE += -Xswiftc -Xfrontend -Xswiftc -function-sections \
  $(addprefix -Xlinker ,--symbol-ordering-file=Benchmarks/symbols --no-warn-symbol-ordering)
# No regular expressions: they would make each program 1.3 MB larger, and the daemon take 50 KiB more.
RELEASE += $(addprefix -Xswiftc -Xfrontend -Xswiftc ,-disable-implicit-string-processing-module-import)
# The identifier that connects a stripped program with its debugging information; some linkers make
# none by default.
RELEASE += -Xlinker --build-id=sha1
# For arm64, by a compiler on another machine: the folder of the arm64 compiler of the same version, whose
# runtime the programs get. The libraries are those of Debian's architecture arm64.
ARM64_SWIFT ?=
ifneq ($(ARM64_SWIFT),)
CLANG_TARGET = --target=aarch64-linux-gnu
RELEASE += --triple aarch64-unknown-linux-gnu --pkg-config-path /usr/lib/aarch64-linux-gnu/pkgconfig \
  -Xswiftc -resource-dir -Xswiftc $(ARM64_SWIFT)/lib/swift_static
endif
# debian/rules leaves the stripping to debhelper, which keeps the debugging information.
INSTALL_PROGRAM = install -s
PROGRAMS = keymoded keymodectl
# `@` keeps the compiler's long command line out of what a person sees; a build of a package shows it.
QUIET =
PAGES = keymodectl.1 keymoded.yaml.5 keymoded.8
UNITS = keymoded.service keymoded-state.socket keymoded-control.socket keymoded-keyboard.target \
  keymoded-seat.service keymoded-shift.service
USER_UNITS = keymode-targets.service keymode-focus.service keymode-call.service keymode@.target
# Two guests at once: each spends much of its time waiting. The tests of a file share a guest.
GUESTS = -n 2 --dist loadfile
# The tests in guests that take the package or its examples, or the desktops of Debian 13.
PACKAGE_TESTS = $(addprefix Tests/VirtualMachine/tests/, test_package.py test_signed_release.py \
  test_kiosk.py test_clients_page.py test_autopkgtest.py test_typed_shift.py)
# The tests of what differs between systemd 252 and 257.
UNIT_TESTS = $(addprefix Tests/VirtualMachine/tests/, \
  test_units.py test_restart.py::test_stop_forgets_the_states_only_before_systemd_254 \
  test_locks.py::test_locks_follow_the_leds_beside_keyd_with_its_grab)
# The tests that also run in guests for arm64: the unit with its filter of system calls, keyboards, restarts, the code
# that is unmapped, and the kiosk's bridge; with pages of 4 KiB also the package, the talk key, what runs while
# a state lasts, and Shift on desktops.
ARM64_TESTS = $(addprefix Tests/VirtualMachine/tests/, test_units.py test_keymoded.py test_restart.py \
  test_unmapped_code.py test_kiosk.py)
ARM64_MORE_TESTS = $(addprefix Tests/VirtualMachine/tests/, test_package.py test_talk.py test_push_to_talk.py \
  test_sessions.py test_typed_shift.py)
# Notes for scripts/test-times how long a build or a run of tests takes: $(BUILDING) PART COMMAND.
BUILDING = scripts/timed build
TESTING = scripts/timed test
# Runs tests of Python as the part $(1).
PYTEST = $(TESTING) $(1) .tools/venv/bin/python -m pytest --junitxml .build/times/$(1).xml
# Makes what guests start from, if it is not there yet. The tests would too, but in their own time.
MAKE_GUEST = env PYTHONPATH=Tests:Tests/VirtualMachine .tools/venv/bin/python -m harness.vm
GUEST = $(BUILDING) guests $(MAKE_GUEST)
# The version of everything is in this file. A test compares the other files that have it.
VERSION = $(shell sed -n 's/.*keymodedVersion = "\(.*\)"/\1/p' Sources/Service/Wire/Interface/Version.swift)
ARCHIVE = keymoded-$(VERSION)
SOURCES = Package.swift Sources Tests examples/chat examples/follow Benchmarks/machines

.PHONY: help run test check all-tests checks fresh-test lint unit-tests examples fuzz-tests client-tests \
  machine-tests user-tests desktop-tests desktops diagram-tests kiosk-tests corpus-tests guest-packages guests vm-tests \
  package-tests arm64-tests sanitize fuzz adversary soak bench bench-vm order pictures \
  build programs install uninstall dist dist-tests source-package deb deb-arm64 debian release release-here clean

help:
	@echo 'make run        install missing packages, build, and run it here'
	@echo 'make test       install missing packages, and run every test'
	@echo 'make fresh-test run both, and make deb-arm64, in a new Debian 13 with nothing installed, as root'
	@echo 'make check      run all tests except those in a virtual machine'
	@echo 'make adversary  run all attacks for two hours, and print the results'
	@echo 'make arm64-tests  build for arm64, and run tests of that in emulators; on amd64, as root'
	@echo 'make desktops   run tests on whole desktops, such as GNOME and KDE Plasma, in virtual machines; as root'
	@echo 'make soak       an hour of typing, plugging and subscribing in a virtual machine'
	@echo 'make sanitize   run the Swift tests with the address and the thread sanitizer'
	@echo 'make bench      measure keymoded beside other programs, among them keyd; as root'
	@echo 'make bench-vm   measure from a key to a client, in a virtual machine, beside keyd'
	@echo 'make order      list for the linker what belongs together in memory; as root'
	@echo 'make fuzz       fuzz ten targets with input from outside, ten minutes each'
	@echo 'make build      build the programs into .build/release'
	@echo 'make install    install the built programs; PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)'
	@echo 'make uninstall  remove the installed files'
	@echo 'make pictures   take the pictures of the README again'
	@echo 'make deb        build the Debian package into .deb'
	@echo 'make dist       make the source archive of a release, in .dist'
	@echo 'make deb-arm64  build the package for arm64, on amd64, into .deb-arm64; as root'
	@echo 'make debian     make the source package, and build it in a clean Debian 13'
	@echo 'make release    packages for amd64 and arm64, their sources and checksums, in .release; KEY=… signs it for apt'
	@echo 'make clean      remove everything built, and the tools of the tests'

run:
	@test -x .build/release/keymoded || echo 'This installs what is missing, of at most 0.6 GB to fetch and 3.3 GB on the disk, and builds: some 4 minutes on two processors.'
	@$(MAKE) --no-print-directory build QUIET=@
	@scripts/run

# These run the tests, and then print how long each part took, even if some failed. What guests start from is made
# beside the first parts.
test check:
	@rm -rf .build/times
	@$(if $(filter test,$@),$(MAKE) --no-print-directory guest-packages)
	@mkdir -p .build; $(if $(filter test,$@),$(MAKE) --no-print-directory guests >.build/guests.log 2>&1 &) \
	  $(MAKE) --no-print-directory $(if $(filter test,$@),all-tests,checks); \
	  status=$$?; wait; scripts/test-times; exit $$status

all-tests: checks vm-tests package-tests

checks: lint unit-tests fuzz-tests client-tests machine-tests user-tests desktop-tests kiosk-tests corpus-tests \
  diagram-tests examples

# Does what README says on a machine that has nothing yet. TARGETS replaces `run test deb-arm64`.
fresh-test:
	scripts/fresh-test $(TARGETS)

lint:
	@scripts/install-packages build test
	$(TESTING) lint $(SWIFT) format lint --strict --recursive $(SOURCES)
	$(TESTING) lint scripts/architecture --check
	$(TESTING) lint scripts/bench --check

unit-tests:
	@scripts/install-packages build test
	@scripts/install-python-tools
	$(BUILDING) unit $(SWIFT) build --build-tests
	$(TESTING) unit $(SWIFT) test --skip-build --disable-xctest --xunit-output .build/times/unit.xml

# The unit tests cover the examples' behaviour; this builds them as a reader would.
examples:
	@scripts/install-packages build
	$(BUILDING) examples $(SWIFT) build --package-path examples/chat
	$(BUILDING) examples $(SWIFT) build --package-path examples/follow

fuzz-tests:
	@scripts/install-packages build
	$(BUILDING) fuzz scripts/fuzz build
	$(TESTING) fuzz scripts/fuzz runs 5000 varlink=200 configuration=2000 controller=2000 \
	  evemu libinput evtest getevent raw64 raw32 store

fuzz:
	@scripts/install-packages build
	scripts/fuzz seconds 600

# Attacks by clients, and their effect on an innocent client.
client-tests: build
	@scripts/install-packages test
	@scripts/install-python-tools
	$(call PYTEST,clients) Tests/Adversary

# Random machines, and hands at their keys, against a model that was written from the pages, whose restarts and
# reloads the unit tests play; and the samples of all pages, as printed.
machine-tests: build
	@scripts/install-packages test
	@scripts/install-python-tools
	$(BUILDING) unit $(SWIFT) build --build-tests
	$(call PYTEST,machines) -n 2 Tests/Machines Tests/Pages

# The examples for desktops and keymode-focus, with real programs, on a desktop without a screen.
desktop-tests: build
	@scripts/install-packages test desktop
	@scripts/install-python-tools
	$(call PYTEST,desktop) -n 2 --dist loadfile Tests/Desktop

# The kiosk's page in real browsers, with a real daemon.
kiosk-tests: build
	@scripts/install-packages test kiosk
	@scripts/install-python-tools
	$(call PYTEST,kiosk) -n 2 Tests/Kiosk

# The example that replays a folder of recordings with Dask, on two workers.
corpus-tests: build
	@scripts/install-packages test
	@scripts/install-python-tools
	$(call PYTEST,corpus) Tests/Corpus

# `keymodectl targets` and `while` with a real service manager of a user.
user-tests: build
	@scripts/install-packages test
	@scripts/install-python-tools
	$(call PYTEST,user) -n 2 --dist loadfile Tests/UserManager

# Every diagram of the tests and of the documentation, drawn by the program of its language.
diagram-tests:
	@scripts/install-packages test diagrams
	@scripts/install-python-tools
	$(call PYTEST,diagrams) Tests/Diagrams

# The pictures in the README.
pictures: build
	@scripts/install-packages test desktop kiosk pictures
	@scripts/install-python-tools
	REMAKE_PICTURES=1 .tools/venv/bin/python -m pytest Tests/Desktop -k 'look or view or chosen or focus_of'
	REMAKE_PICTURES=1 .tools/venv/bin/python -m pytest Tests/Kiosk/test_look.py

adversary: build
	scripts/adversary

# An hour of typing, plugging and subscribing. `make test` does it for some seconds.
soak: export KEYMODED_SOAK_SECONDS ?= 3600
soak: build
	@scripts/install-packages test
	@KEYMODED_REQUIRE_VM=1 scripts/install-packages virtual-machine
	@scripts/install-python-tools
	.tools/venv/bin/python -m pytest Tests/VirtualMachine/tests/test_soak.py

# Not part of `make test`, because each sanitizer takes minutes.
sanitize:
	@scripts/install-packages build test
	@scripts/install-python-tools
	scripts/sanitize

guest-packages:
	@scripts/install-packages test
	@scripts/install-packages virtual-machine
	@scripts/install-python-tools

guests:
	nice $(MAKE_GUEST)
	KEYMODED_VM_SUITE=trixie nice $(MAKE_GUEST) desktop

vm-tests: build deb guest-packages
	$(GUEST)
	$(call PYTEST,guests) $(GUESTS) Tests/VirtualMachine $(addprefix --ignore ,$(PACKAGE_TESTS))

# These are about Debian 13, which README names: the guest has it whatever this machine has.
package-tests: export KEYMODED_VM_SUITE = trixie
package-tests: dist-tests release-here guest-packages
	$(TESTING) package lintian --allow-root --pedantic --fail-on error,warning,pedantic .deb/keymoded.changes
	@scripts/install-packages release
	$(GUEST) desktop
	$(call PYTEST,guests-package) $(GUESTS) $(PACKAGE_TESTS) $(UNIT_TESTS)

# What is built for arm64, apart from `make test`, on amd64: the programs in an emulator for programs, and
# the service in emulated machines whose pages have 4 and 16 KiB. Needs root.
arm64-tests: build release
	@scripts/install-packages test arm64
	@KEYMODED_REQUIRE_VM=1 scripts/install-packages virtual-machine
	@scripts/install-python-tools
	$(call PYTEST,arm64) Tests/Arm64
	KEYMODED_VM_ARCHITECTURE=arm64 $(GUEST)
	KEYMODED_VM_ARCHITECTURE=arm64 $(GUEST) desktop
	KEYMODED_VM_ARCHITECTURE=arm64 $(call PYTEST,guest-arm64) $(GUESTS) $(ARM64_TESTS) $(ARM64_MORE_TESTS)
	KEYMODED_VM_ARCHITECTURE=arm64-16k $(GUEST)
	KEYMODED_VM_ARCHITECTURE=arm64-16k $(call PYTEST,guest-arm64-16k) $(GUESTS) $(ARM64_TESTS)

# Whole desktops of Debian 13, one guest at a time, because each takes both processors and 3 GiB. Not part of
# `make test`. The pictures are in .build/desktops. DESKTOPS='-k gnome' chooses some tests.
desktops: deb
	@scripts/install-packages test
	@KEYMODED_REQUIRE_VM=1 scripts/install-packages virtual-machine
	@scripts/install-python-tools
	$(call PYTEST,desktops) Tests/Desktops $(DESKTOPS)

bench: build
	scripts/bench

# Writes Benchmarks/symbols; needed again only after many changes of what a key runs.
order: build
	@scripts/install-packages bench
	PYTHONPATH=Tests python3 Benchmarks/order.py

# The time from a key to a client can only be measured with keyboards, so in a virtual machine.
bench-vm: build
	@scripts/install-packages test
	@KEYMODED_REQUIRE_VM=1 scripts/install-packages virtual-machine
	scripts/bench guest

build:
	@scripts/install-packages build
	@$(BUILDING) programs $(MAKE) --no-print-directory programs

# debian/rules uses this: a build of a Debian package installs nothing.
programs:
	@install -d $(CXX_RUNTIME)
	@swift=$$(readlink -f "$$(command -v $(SWIFT))") && \
	  ln -sf "$$("$${swift%/*}/clang" $(CLANG_TARGET) -print-file-name=libstdc++.a)" $(CXX_RUNTIME) || echo 'libstdc++ is linked as a shared library'
	@for name in $(PROGRAMS); do \
	  test .build/release/$$name -nt Benchmarks/symbols || $(RM) .build/release/$$name; done
	$(if $(QUIET),@echo 'Compiling keymoded and keymodectl')
	$(QUIET)$(SWIFT) build $(RELEASE)

# Builds nothing, so that root never runs the compiler: run `make build` first.
install:
	@test -x .build/release/keymoded || { echo "the programs are not built yet: run 'make build'"; exit 1; }
	install -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(libexecdir)" "$(DESTDIR)$(unitdir)" "$(DESTDIR)$(userunitdir)" \
	  "$(DESTDIR)$(sysusersdir)" "$(DESTDIR)$(rulesdir)" "$(DESTDIR)$(mandir)/man1" "$(DESTDIR)$(mandir)/man5" \
	  "$(DESTDIR)$(mandir)/man8"
	$(INSTALL_PROGRAM) $(addprefix .build/release/,$(PROGRAMS)) "$(DESTDIR)$(bindir)"
	install data/libexec/keymode-focus data/libexec/keymode-call "$(DESTDIR)$(libexecdir)"
	install -m 644 $(addprefix systemd/,$(UNITS)) "$(DESTDIR)$(unitdir)"
	install -m 644 $(addprefix systemd/user/,$(USER_UNITS)) "$(DESTDIR)$(userunitdir)"
	sed -i 's|@bindir@|$(bindir)|; s|@libexecdir@|$(libexecdir)|' $(addprefix "$(DESTDIR)$(unitdir)"/,$(filter %.service,$(UNITS))) \
	  $(addprefix "$(DESTDIR)$(userunitdir)"/,$(filter %.service,$(USER_UNITS)))
	install -m 644 systemd/keymoded.sysusers "$(DESTDIR)$(sysusersdir)/keymoded.conf"
	install -m 644 udev/70-keymoded.rules "$(DESTDIR)$(rulesdir)"
	for page in $(PAGES); do \
	  install -m 644 data/man/$$page "$(DESTDIR)$(mandir)/man$${page##*.}" || exit; \
	done
	install -d "$(DESTDIR)$(recipedir)" "$(DESTDIR)$(sounddir)" "$(DESTDIR)$(confdir)/keymoded.yaml.d"
	install -m 644 data/recipes/*.yaml "$(DESTDIR)$(recipedir)"
	install -m 644 data/sounds/*.wav "$(DESTDIR)$(sounddir)"
	test -e "$(DESTDIR)$(confdir)/keymoded.yaml" || \
	  install -m 644 data/etc/keymoded.yaml "$(DESTDIR)$(confdir)"
	install -d "$(DESTDIR)$(bashdir)" "$(DESTDIR)$(fishdir)" "$(DESTDIR)$(zshdir)"
	for name in $(PROGRAMS); do \
	  install -m 644 data/completions/$$name.bash "$(DESTDIR)$(bashdir)/$$name" && \
	  install -m 644 data/completions/$$name.fish "$(DESTDIR)$(fishdir)" && \
	  install -m 644 data/completions/_$$name "$(DESTDIR)$(zshdir)" || exit; \
	done

uninstall:
	for name in $(PROGRAMS); do $(RM) "$(DESTDIR)$(bindir)/$$name"; done
	$(RM) -r "$(DESTDIR)$(libexecdir)"
	for name in $(PROGRAMS); do \
	  $(RM) "$(DESTDIR)$(bashdir)/$$name" "$(DESTDIR)$(fishdir)/$$name.fish" \
	    "$(DESTDIR)$(zshdir)/_$$name"; \
	done
	for name in $(UNITS); do $(RM) "$(DESTDIR)$(unitdir)/$$name"; done
	for name in $(USER_UNITS); do $(RM) "$(DESTDIR)$(userunitdir)/$$name"; done
	for page in $(PAGES); do $(RM) "$(DESTDIR)$(mandir)/man$${page##*.}/$$page"; done
	$(RM) "$(DESTDIR)$(sysusersdir)/keymoded.conf" "$(DESTDIR)$(rulesdir)/70-keymoded.rules"
	! cmp -s data/etc/keymoded.yaml "$(DESTDIR)$(confdir)/keymoded.yaml" || \
	  $(RM) "$(DESTDIR)$(confdir)/keymoded.yaml"
	$(RM) -r "$(DESTDIR)$(PREFIX)/share/keymoded"
	! test -d "$(DESTDIR)$(confdir)/keymoded.yaml.d" || \
	  rmdir --ignore-fail-on-non-empty "$(DESTDIR)$(confdir)/keymoded.yaml.d"

dist:
	scripts/dist $(VERSION)

# The archive builds, and the programs are the same in another folder.
dist-tests: build dist
	tar --extract --xz --file=.dist/$(ARCHIVE).tar.xz --directory=.dist
	$(BUILDING) dist $(MAKE) -C .dist/$(ARCHIVE) programs
	for name in $(PROGRAMS); do \
	  cmp .build/release/$$name .dist/$(ARCHIVE)/.build/release/$$name || exit; \
	done
	.dist/$(ARCHIVE)/.build/release/keymoded --version | grep --line-regexp 'keymoded $(VERSION)'
	$(RM) -r .dist/$(ARCHIVE)

source-package: dist
	scripts/source-package $(VERSION)

# `make release-here` has only the package for this machine's architecture, for the tests.
release: deb-arm64
release release-here: deb source-package
	scripts/release '$(KEY)' .deb/*.deb $(if $(filter release,$@),.deb-arm64/keymoded_*.deb)

# Builds the source package as Debian does, in a clean Debian 13 without network. Needs root.
debian: source-package
	@scripts/install-packages fresh-test
	scripts/build-in-debian

# Builds the package for arm64 on amd64, in a Debian 13 that is kept. Needs root.
deb-arm64: source-package
	@scripts/install-packages fresh-test
	scripts/build-in-debian arm64

# By default Debian's tools write packages into the directory above the checkout. The dependencies on
# other packages are not checked: Debian 12 has no package of Swift.
deb: export DEB_DESTINATION = .deb
deb: export DEB_HOME = $(HOME)
deb: export DEB_KEEP_BUILD = yes
# Makes no second package with the programs' debugging information.
deb: export DEB_BUILD_OPTIONS += noautodbgsym
deb:
	@scripts/install-packages build package
	$(RM) -r .deb
	install -d .deb
	$(BUILDING) package dpkg-buildpackage --build=binary --no-check-builddeps --no-sign \
	  --buildinfo-option=-u.deb --buildinfo-file=.deb/keymoded.buildinfo \
	  --changes-option=-u.deb --changes-file=.deb/keymoded.changes

clean:
	$(RM) -r .arm64 .build .deb .deb-arm64 .dist .release .tools .vm Tests/Fuzzing/.build examples/chat/.build examples/follow/.build
	$(RM) -r debian/.debhelper debian/keymoded debian/debhelper-build-stamp debian/files \
	  debian/*.substvars debian/*.debhelper* debian/.home
