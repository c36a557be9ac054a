# Everything a person does with the source of keymoded. `make help` lists it.

PREFIX  ?= /usr/local
DESTDIR ?=

bindir      = $(PREFIX)/bin
unitdir     = $(PREFIX)/lib/systemd/system
sysusersdir = $(PREFIX)/lib/sysusers.d
rulesdir    = $(PREFIX)/lib/udev/rules.d
mandir      = $(PREFIX)/share/man
bashdir     = $(PREFIX)/share/bash-completion/completions
fishdir     = $(PREFIX)/share/fish/vendor_completions.d
# Where Debian's zsh looks: it keeps packages and what is installed by hand apart.
zshdir      = $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

SWIFT ?= swift
# The Swift runtime becomes part of the programs, so that they run on machines without Swift. So does
# what it needs of C++'s, which takes less memory than the whole: where only libstdc++.a is, the linker
# takes that. The others make the programs smaller, and quicker to start; docs/performance.md says how
# much each does.
CXX_RUNTIME = .build/c++
RELEASE = -c release --static-swift-stdlib -Xswiftc -use-ld=lld -Xswiftc -L$(CXX_RUNTIME) \
  $(addprefix -Xswiftc ,-Xclang-linker -static-libgcc) \
  $(addprefix -Xlinker ,--no-export-dynamic -z pack-relative-relocs)
PROGRAMS = keymoded keymodectl
PAGES = keymodectl.1 keymoded.yaml.5 keymoded.8
UNITS = keymoded.service keymoded-state.socket keymoded-control.socket keymoded-keyboard.target
SOURCES = Package.swift Sources Tests examples/chat examples/follow

.PHONY: help run test check lint unit-tests examples fuzz-tests client-tests desktop-tests \
  vm-tests package-tests sanitize fuzz adversary bench bench-vm recordings pictures build install \
  uninstall deb clean

help:
	@echo 'make run        install what is missing, build, and run it here'
	@echo 'make test       install what is missing, and run every test'
	@echo 'make check      all of that but the tests in a virtual machine'
	@echo 'make adversary  attack it with all there is, for two hours, and print what came of it'
	@echo 'make sanitize   the tests once more, built with address and with thread sanitizer'
	@echo 'make bench      measure it beside what people would use otherwise'
	@echo 'make bench-vm   the same of keys, in a virtual machine, beside keyd'
	@echo 'make fuzz       try what others send: ten targets, each for ten minutes'
	@echo 'make build      build the programs, into .build/release'
	@echo 'make install    install what was built; PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)'
	@echo 'make uninstall  remove what was installed'
	@echo 'make recordings records typing in a virtual machine, for the tests of replay'
	@echo 'make pictures   take the pictures of the README again'
	@echo 'make deb        build the Debian package, into .deb'
	@echo 'make clean      remove what was built, the tools of the tests too'

run: build
	@scripts/run

test: check vm-tests package-tests

check: lint unit-tests fuzz-tests client-tests desktop-tests examples

lint:
	@scripts/install-packages test
	$(SWIFT) format lint --strict --recursive $(SOURCES)
	scripts/architecture --check

unit-tests:
	@scripts/install-packages build test
	@scripts/install-python-tools
	$(SWIFT) test --disable-xctest

# Its tests are among the others; this is what its reader would do.
examples:
	@scripts/install-packages build
	$(SWIFT) build --package-path examples/chat
	$(SWIFT) build --package-path examples/follow

fuzz-tests:
	@scripts/install-packages build
	scripts/fuzz runs 5000 evemu libinput evtest getevent raw64 raw32 wire
	scripts/fuzz runs 2000 configuration controller
	scripts/fuzz runs 200 varlink

fuzz:
	@scripts/install-packages build
	scripts/fuzz seconds 600

# Bad clients, and what an innocent one notices of them.
client-tests: build
	@scripts/install-python-tools
	.tools/venv/bin/python -m pytest Tests/Adversary

# Waybar, tmux and notifications with the examples, on a desktop that is only in memory.
desktop-tests: build
	@scripts/install-packages test desktop
	@scripts/install-python-tools
	.tools/venv/bin/python -m pytest Tests/Desktop

# What the README shows of them.
pictures: build
	@scripts/install-packages test desktop pictures
	@scripts/install-python-tools
	REMAKE_PICTURES=1 .tools/venv/bin/python -m pytest Tests/Desktop -k 'look or view'

# The attacks of `make test`, each for longer or more often, with what came of each.
adversary: export KEYMODED_ATTACK_SECONDS = 20
adversary: export KEYMODED_DELAY_FACTOR = 3
adversary: export KEYMODED_SOAK_SECONDS = 3600
adversary: export KEYMODED_IDLE_SECONDS = 60
adversary: export KEYMODED_PLUGS = 500
adversary: export KEYMODED_ATTACKS = 5
adversary: export KEYMODED_SLEEPS = 5
adversary: export KEYMODED_SEARCH_SECONDS = 180
adversary: build
	@scripts/install-packages test
	@scripts/install-packages virtual-machine
	@scripts/install-python-tools
	scripts/fuzz seconds 300
	.tools/venv/bin/python -m pytest Tests/Adversary Tests/VirtualMachine -m attack

# Not part of `make test`, because it takes minutes for each of the two.
sanitize:
	@scripts/install-packages build test
	@scripts/install-python-tools
	scripts/sanitize

vm-tests: build deb
	@scripts/install-packages test
	@scripts/install-packages virtual-machine
	@scripts/install-python-tools
	.tools/venv/bin/python -m pytest Tests/VirtualMachine

# That of this Debian is installed by vm-tests; this is for the newer one, with its newer systemd.
package-tests: deb
	lintian --allow-root --fail-on error,warning .deb/keymoded.changes
	@scripts/install-packages test
	@scripts/install-packages virtual-machine
	@scripts/install-python-tools
	KEYMODED_VM_SUITE=trixie .tools/venv/bin/python -m pytest \
	  $(addprefix Tests/VirtualMachine/tests/,test_package.py test_upgrade.py test_clients_page.py)

recordings: build
	@scripts/install-packages test
	@KEYMODED_REQUIRE_VM=1 scripts/install-packages virtual-machine
	@scripts/install-python-tools
	PYTHONPATH=Tests:Tests/VirtualMachine .tools/venv/bin/python -m harness.record_session

bench: build
	scripts/bench

# What has no keyboards cannot tell how soon a client has a key.
bench-vm: build
	@scripts/install-packages test
	@KEYMODED_REQUIRE_VM=1 scripts/install-packages virtual-machine
	scripts/bench latency

build:
	@scripts/install-packages build
	@install -d $(CXX_RUNTIME)
	@ln -sf "$$($(dir $(shell command -v $(SWIFT)))clang -print-file-name=libstdc++.a)" \
	  $(CXX_RUNTIME) || echo 'C++ stays a library of its own'
	$(SWIFT) build $(RELEASE)

# Builds nothing, so that root need not: run `make build` first.
install:
	@test -x .build/release/keymoded || { echo "nothing is built yet: run 'make build'"; exit 1; }
	install -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(unitdir)" "$(DESTDIR)$(sysusersdir)" \
	  "$(DESTDIR)$(rulesdir)" "$(DESTDIR)$(mandir)/man1" "$(DESTDIR)$(mandir)/man5" \
	  "$(DESTDIR)$(mandir)/man8"
	install -s $(addprefix .build/release/,$(PROGRAMS)) "$(DESTDIR)$(bindir)"
	install -m 644 $(addprefix systemd/,$(UNITS)) "$(DESTDIR)$(unitdir)"
	sed -i 's|@bindir@|$(bindir)|' "$(DESTDIR)$(unitdir)/keymoded.service"
	install -m 644 systemd/keymoded.sysusers "$(DESTDIR)$(sysusersdir)/keymoded.conf"
	install -m 644 udev/70-keymoded.rules "$(DESTDIR)$(rulesdir)"
	for page in $(PAGES); do \
	  install -m 644 man/$$page "$(DESTDIR)$(mandir)/man$${page##*.}" || exit; \
	done
	install -d "$(DESTDIR)$(bashdir)" "$(DESTDIR)$(fishdir)" "$(DESTDIR)$(zshdir)"
	for name in $(PROGRAMS); do \
	  install -m 644 completions/$$name.bash "$(DESTDIR)$(bashdir)/$$name" && \
	  install -m 644 completions/$$name.fish "$(DESTDIR)$(fishdir)" && \
	  install -m 644 completions/_$$name "$(DESTDIR)$(zshdir)" || exit; \
	done

uninstall:
	for name in $(PROGRAMS); do $(RM) "$(DESTDIR)$(bindir)/$$name"; done
	for name in $(PROGRAMS); do \
	  $(RM) "$(DESTDIR)$(bashdir)/$$name" "$(DESTDIR)$(fishdir)/$$name.fish" \
	    "$(DESTDIR)$(zshdir)/_$$name"; \
	done
	for name in $(UNITS); do $(RM) "$(DESTDIR)$(unitdir)/$$name"; done
	for page in $(PAGES); do $(RM) "$(DESTDIR)$(mandir)/man$${page##*.}/$$page"; done
	$(RM) "$(DESTDIR)$(sysusersdir)/keymoded.conf" "$(DESTDIR)$(rulesdir)/70-keymoded.rules"

# Debian's tools put what they make beside the checkout where nobody says otherwise.
deb:
	@scripts/install-packages build package
	$(RM) -r .deb
	install -d .deb
	DEB_DESTINATION=.deb dpkg-buildpackage --build=binary --no-sign \
	  --buildinfo-option=-u.deb --buildinfo-file=.deb/keymoded.buildinfo \
	  --changes-option=-u.deb --changes-file=.deb/keymoded.changes

clean:
	$(RM) -r .build .deb .former .tools .vm Tests/Fuzzing/.build examples/chat/.build examples/follow/.build
	$(RM) -r debian/.debhelper debian/keymoded debian/debhelper-build-stamp debian/files \
	  debian/*.substvars debian/*.debhelper*
