#!/bin/sh
# Sourced once by the entrypoint of PostgreSQL's container, which has read POSTGRES_PASSWORD_FILE into POSTGRES_PASSWORD by then:
# an ordinary user who owns one database, and a role for backups.
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" <<'SQL'
create role memdir login nosuperuser nocreaterole nocreatedb password :'password';
create database memdir owner memdir;
create role memdir_backup login bypassrls password :'password';
grant pg_read_all_data to memdir_backup;
SQL
